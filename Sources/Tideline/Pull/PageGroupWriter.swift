internal import TidelineStore

/// Stores the pages of a pull: each group of pages in one transaction, with the token of the last page.
struct PageGroupWriter<Store: LocalStore>: Sendable {
    /// The state from the pages stored so far.
    var memory: PullState
    /// The result of the pages stored so far.
    private(set) var result = PullResult()
    private let context: SyncContext<Store>
    private let table: String
    private let queryID: String?
    private let filter: String
    private let columns: String
    private let settings: PullSettings

    init(_ run: PullRun<Store>, filter: String, _ memory: PullState) {
        self.memory = memory
        self.filter = filter
        columns = run.schema.columnFingerprint
        context = run.context
        table = run.schema.name
        queryID = run.queryID
        settings = run.settings
    }

    /// Restarts the pull with the given state. Rows already written remain counted.
    mutating func restart(_ memory: PullState) {
        self.memory = memory
        result.rowsPulled = 0
        result.rowsSkipped = 0
        result.skippedRows = []
    }

    /// Stores pages in the order in which they were received, with their token. Does not write if nothing changes.
    mutating func store(_ group: [PendingPage]) async throws {
        guard let last = group.last else { return }
        do {
            try await storeAtOnce(group, last)
        } catch let error as SyncError where error.code == .invalidAnswer && group.count > 1 {
            // A row could not be stored, so the transaction was rolled back. Store each page separately.
            for page in group { try await store([page]) }
        } catch let error as SyncError where error.code == .invalidAnswer && memory.unfit?.insert(error) == true {
            try await store(group)
        } catch let error as SyncError where error.cause is SpellingConflict {
            try await forgetState(of: error.id)
            throw error
        }
    }

    /// Clears the stamp of a stored row, so that no page can match its state.
    private func forgetState(of id: String?) async throws {
        guard let id else { return }
        let table = table
        try await context.writing { writer in
            guard let stored = try writer.row(in: table, id: id) else { return }
            try writer.upsert(Row(id: stored.key, distinctColumns: [("updatedAt", .null)]), into: table)
        }
    }

    private mutating func storeAtOnce(_ group: [PendingPage], _ last: PendingPage) async throws {
        let token = makeToken(last)
        var changesNothing = false
        if token == nil || token == memory.stored { changesNothing = try await findsNothing(in: group) }
        if !changesNothing { try await write(group, token) }
        settings.onProgress?(PullProgress(rowsPulled: result.rowsPulled, pages: result.requests))
    }

    /// Returns the token to store with a page, or `nil` for a pull of all rows.
    private func makeToken(_ last: PendingPage) -> PullToken? {
        guard queryID != nil, let updatedAt = last.watermark else { return nil }
        // Rows whose identifiers differ only in case must not be skipped, so the token advances only at the end.
        guard memory.ids == nil || last.isLast else { return memory.stored }
        let token = memory.token(at: updatedAt, filter: filter, columns: columns, isLast: last.isLast)
        guard let stored = memory.stored, stored.updatedAt == updatedAt, stored.columns == columns,
            stored.isRefreshing == token.isRefreshing
        else { return token }
        return last.isLast && (stored.firstStamp != nil || spares(token, after: stored, last)) ? token : stored
    }

    /// Returns whether storing another token would spare the next pull rows that this pull received.
    ///
    /// Without new rows, the stored server date also stays. An earlier date only makes the next pull look further back.
    private func spares(_ token: PullToken, after stored: PullToken, _ last: PendingPage) -> Bool {
        guard let oldest = last.oldest, let before = stored.start(lookback: settings.lookback),
            let start = token.start(lookback: settings.lookback)
        else { return false }
        return before < start && oldest < start
    }

    /// Returns whether the pages contain no changes, without writing.
    private mutating func findsNothing(in group: [PendingPage]) async throws -> Bool {
        let before = self
        let found: Self? = try await context.reading { reader in
            var after = before
            for held in group {
                let application = try after.compare(held, in: reader)
                guard application.isEmpty else { return nil }
                after.note(application, of: held)
            }
            return after.memory.isSpellingInDoubt ? nil : after
        }
        if let found { self = found }
        return found != nil
    }

    private mutating func write(_ group: [PendingPage], _ token: PullToken?) async throws {
        let before = self
        self = try await context.writing { writer in
            var after = before
            try after.context.recordOwner(in: writer)
            for held in group { try after.write(held, in: writer) }
            try after.save(token, in: writer)
            after.result.writes += 1
            return after
        }
    }

    /// Each page is compared with the state after the earlier pages of the transaction.
    private mutating func write(_ held: PendingPage, in writer: Store.Writer) throws {
        let application = try compare(held, in: writer)
        try application.write(operations: context.operations, in: writer)
        note(application, of: held)
        result.rowsStored += application.storedCount
        result.rowsRemoved += application.removed.count
    }

    private func compare(_ held: PendingPage, in reader: some StoreReader) throws -> PageWriter {
        try PageWriter(held, memory, settled: context.settled, operations: context.operations, in: reader)
    }

    private mutating func note(_ application: PageWriter, of held: PendingPage) {
        memory.note(application, of: held)
        result.requests += 1
        result.rowsPulled += held.page.rows.count - application.repeatedCount
        result.note(skipped: held.page.skipped + application.skipped)
    }

    private mutating func save(_ token: PullToken?, in writer: Store.Writer) throws {
        guard let queryID else { return }
        // The pull restarts. If the process ends before that, the next pull restarts too.
        let next = memory.isSpellingInDoubt ? memory.initial : token.map(memory.limited)
        guard next != nil || memory.isSpellingInDoubt else { return }
        let isReplaced = try context.tokens.replace(
            memory.stored, with: next, table: table, queryID: queryID, in: writer)
        guard isReplaced else {
            throw SyncError(
                .pullInterrupted,
                "the token of the query id \(queryID.debugDescription) changed during the pull; pull again",
                table: table)
        }
        memory.stored = next
    }
}
