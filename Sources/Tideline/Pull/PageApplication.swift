internal import TidelineStore

/// What a page changes in the local store: found by reading alone, so that a page that brings nothing costs no write.
struct PageApplication: Sendable {
    /// Positions of the rows to store; nil for all of them.
    private(set) var stored: [Int]? = []
    /// Ids of the rows to remove.
    private(set) var removed: [RowID] = []
    /// Operations beside which the server's row at a position is kept.
    private(set) var rebased: [(operation: TableOperation, index: Int)] = []
    /// The least `updatedAt` of rows that were passed over though they may be news: a token must not go beyond it.
    private(set) var passedOver: Timestamp?
    /// The rows that the store does not take.
    private(set) var skipped: [SkippedRow] = []
    /// How many rows came before in this pull, as they are now.
    private(set) var repeatedCount = 0
    /// Whether a row is stored under an id that differs in case.
    private(set) var isRespelled = false
    private let page: PulledPage

    /// The number of rows to store.
    var storedCount: Int { stored?.count ?? page.rows.count }

    /// Whether the page changes nothing.
    var isEmpty: Bool { storedCount == 0 && removed.isEmpty && rebased.isEmpty }

    /// Compares a page with what is stored.
    ///
    /// - Parameters:
    ///   - memory: What the pages before left to remember.
    ///   - settled: The rows whose operations ended during the pull.
    /// - Throws: ``SyncError`` with code invalidAnswer for a row whose id differs from another's in case only.
    init(
        _ held: HeldPage, _ memory: PullMemory, settled: SettledRows, operations: OperationStore,
        in reader: some StoreReader
    ) throws {
        page = held.page
        var comparison = try PageComparison(held, memory, settled: settled, operations: operations, in: reader)
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
            case .keepBeside(let operation): rebased.append((operation, index))
            case .passOver(let updatedAt): passedOver = min(updatedAt, passedOver ?? updatedAt)
            case .skip(let row): skipped.append(row)
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
                .invalidAnswer, "a row of the server's cannot be stored: \(error.message)",
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
