internal import TidelineStore

/// The changes of a page to the local store. They are computed without writing, so that a page without changes needs no
/// write transaction.
struct PageWriter: Sendable {
    /// The positions of the rows to store, or `nil` to store all rows.
    private(set) var stored: [Int]? = []
    /// The identifiers of the rows to remove.
    private(set) var removed: [RowID] = []
    /// The operations with which the server row at a position is stored.
    private(set) var rebased: [(operation: TableOperation, index: Int)] = []
    /// The least `updatedAt` of skipped rows that may be new. The token must not exceed it.
    private(set) var firstSkipped: Timestamp?
    /// The rows that the store rejects.
    private(set) var skipped: [SkippedRow] = []
    /// The number of rows that this pull has already received in the same state.
    private(set) var repeatedCount = 0
    /// Whether a row is stored under an identifier that differs in case.
    private(set) var isRespelled = false
    private let page: PulledPage

    /// The number of rows to store.
    var storedCount: Int { stored?.count ?? page.rows.count }

    /// Whether the page changes nothing.
    var isEmpty: Bool { storedCount == 0 && removed.isEmpty && rebased.isEmpty }

    /// Compares a page with the local store.
    ///
    /// - Parameters:
    ///   - memory: The state from earlier pages.
    ///   - settled: The rows whose operations ended during the pull.
    /// - Throws: ``SyncError`` with code invalidAnswer for a row whose identifier differs from another's only in case.
    init(
        _ held: PendingPage, _ memory: PullState, settled: RecentlyPushedRows, operations: OperationStore,
        in reader: some StoreReader
    ) throws {
        page = held.page
        var comparison = try PageDiff(held, memory, settled: settled, operations: operations, in: reader)
        if page.deleted.isEmpty, let leading = comparison.leadingRepeats {
            repeatedCount = leading
            stored = leading == 0 ? nil : Array(leading..<page.rows.count)
            return
        }
        var nextDeleted = page.deleted[...]
        var kept: [Int] = []
        for index in 0..<page.rows.count {
            let isDeleted = nextDeleted.first == index
            if isDeleted { nextDeleted.removeFirst() }
            let effect = try page.rows.withRow(at: index) {
                if comparison.repeats($0) { repeatedCount += 1 }
                return try comparison.effect(of: $0, isDeleted: isDeleted, in: reader)
            }
            switch effect {
            case .none: break
            case .store: kept.append(index)
            case .remove(let key): removed.append(key)
            case .stashServerRow(let operation): rebased.append((operation, index))
            case .skip(let updatedAt): firstSkipped = min(updatedAt, firstSkipped ?? updatedAt)
            case .report(let row): skipped.append(row)
            }
        }
        stored = kept.count == page.rows.count ? nil : kept
        isRespelled = comparison.isRespelled
    }

    /// Writes the changes.
    func write(operations: OperationStore, in writer: some StoreWriter) throws {
        do {
            try storeRows(in: writer)
        } catch let error as StoreError where error.code == .invalidValue {
            throw SyncError(
                .invalidAnswer, "a row from the server cannot be stored: \(error.message)",
                table: page.codec.schema.name, column: error.column, id: error.id, cause: error)
        }
        if !removed.isEmpty { try writer.delete(ids: removed, from: page.codec.schema.name) }
        for (operation, index) in rebased {
            var operation = operation
            var row = page.row(at: index)
            if page.deleted.contains(index) { row["deleted"] = true }
            operation.pulled = page.codec.json(row)
            try operations.save(operation, in: writer)
        }
    }

    private func storeRows(in writer: some StoreWriter) throws {
        let table = page.codec.schema.name
        guard let stored else {
            if page.rows.count > 0 { try writer.upsert(page.rows, into: table) }
            return
        }
        guard !stored.isEmpty else { return }
        var some = PackedRows(shape: page.rows.shape)
        for index in stored {
            try page.rows.withRow(at: index) { try some.append(copying: $0) }
        }
        try writer.upsert(some, into: table)
    }
}
