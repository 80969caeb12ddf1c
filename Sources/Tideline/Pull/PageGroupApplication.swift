internal import TidelineStore

/// Stores the pages of a pull: those of a group in one transaction, with the token of the last.
struct PageGroupApplication<Store: LocalStore>: Sendable {
    /// What the pages stored so far left to remember.
    var progress: PullMemory
    /// What was written so far.
    private(set) var result = PullResult()
    private let context: SyncContext<Store>
    private let table: String
    private let queryID: String?
    private let filter: String
    private let columns: String
    private let onProgress: (@Sendable (PullProgress) -> Void)?

    init(_ run: PullRun<Store>, filter: String, _ progress: PullMemory) {
        self.progress = progress
        self.filter = filter
        columns = run.schema.columnFingerprint
        context = run.context
        table = run.schema.name
        queryID = run.queryID
        onProgress = run.settings.onProgress
    }

    /// Stores pages, in the order in which they came, and their token; without a write when there is nothing to write.
    mutating func store(_ group: [HeldPage]) async throws {
        guard let last = group.last else { return }
        do {
            try await storeAtOnce(group, last)
        } catch let error as SyncError where error.code == .invalidAnswer && group.count > 1 {
            // A row cannot be stored, so that nothing was. The pages before it are, each on its own.
            for page in group { try await store([page]) }
        }
    }

    private mutating func storeAtOnce(_ group: [HeldPage], _ last: HeldPage) async throws {
        let token = makeToken(last)
        var changesNothing = false
        if token == nil || token == progress.stored { changesNothing = try await findsNothing(in: group) }
        if !changesNothing { try await write(group, token) }
        onProgress?(last.progress)
    }

    /// The token to store with a page; nil for a pull of all rows.
    private func makeToken(_ last: HeldPage) -> PullToken? {
        guard queryID != nil, let updatedAt = last.reached else { return nil }
        let isRefreshing = progress.isRefreshing && !last.isLast ? true : nil
        // Without news the clock stays too: an earlier one only makes the next pull look further back.
        if let stored = progress.stored, stored.updatedAt == updatedAt, stored.columns == columns,
            stored.isRefreshing == isRefreshing
        {
            return stored
        }
        return PullToken(
            updatedAt: updatedAt, serverDate: progress.serverDate, filter: filter, columns: columns,
            isRefreshing: isRefreshing)
    }

    /// Whether the pages bring nothing that is not stored, found by reading alone.
    private mutating func findsNothing(in group: [HeldPage]) async throws -> Bool {
        let (context, before) = (context, progress)
        let isEmpty: Bool
        (isEmpty, progress) = try await context.reading { reader in
            var progress = before
            for held in group {
                let application = try Self.compare(held, progress, context, in: reader)
                guard application.isEmpty else { return (false, before) }
                progress.note(application, of: held.page)
            }
            return (true, progress)
        }
        return isEmpty
    }

    private mutating func write(_ group: [HeldPage], _ token: PullToken?) async throws {
        let before = self
        self = try await context.writing { writer in
            var application = before
            try application.context.recordOwner(in: writer)
            for held in group { try application.write(held, in: writer) }
            if let token { try application.save(token, in: writer) }
            application.result.writes += 1
            return application
        }
    }

    /// Each page meets what the pages before it in the transaction wrote.
    private mutating func write(_ held: HeldPage, in writer: Store.Writer) throws {
        let application = try Self.compare(held, progress, context, in: writer)
        try application.write(operations: context.operations, in: writer)
        progress.note(application, of: held.page)
        result.rowsStored += application.storedCount
        result.rowsRemoved += application.removed.count
    }

    private static func compare(
        _ held: HeldPage, _ progress: PullMemory, _ context: SyncContext<Store>, in reader: some StoreReader
    ) throws -> PageApplication {
        try PageApplication(
            held.page, known: progress.known, isFresh: progress.isFresh && !held.mayRepeat,
            comparesContent: progress.isRefreshing, settled: context.settled, operations: context.operations, in: reader
        )
    }

    private mutating func save(_ token: PullToken, in writer: Store.Writer) throws {
        guard let queryID else { return }
        let token = progress.limited(token)
        let isReplaced = try context.tokens.replace(
            progress.stored, with: token, table: table, queryID: queryID, in: writer)
        guard isReplaced else {
            throw SyncError(
                .pullInterrupted, "the token of the query id \(queryID.debugDescription) changed during the pull",
                table: table)
        }
        progress.stored = token
    }
}
