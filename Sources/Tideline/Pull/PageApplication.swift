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
    private let page: PulledPage

    /// The number of rows to store.
    var storedCount: Int { stored?.count ?? page.rows.count }

    /// Whether the page changes nothing.
    var isEmpty: Bool { storedCount == 0 && removed.isEmpty && rebased.isEmpty }

    /// Compares a page with what is stored.
    ///
    /// - Parameters:
    ///   - known: Versions of rows that the page before brought, by id.
    ///   - isFresh: Whether the table had no rows when the pull began, so that none need be looked up.
    ///   - settled: The rows whose operations ended during the pull.
    init(
        _ page: PulledPage, known: [String: String], isFresh: Bool, settled: SettledRows, operations: OperationStore,
        in reader: some StoreReader
    ) throws {
        self.page = page
        let schema = page.codec.schema
        let pending = try Self.pendingOperations(of: schema, operations, in: reader)
        let versionColumn = page.rows.shape.index(of: "version")
        let outdated = settled.ends(of: schema.name, after: page.askedAt)
        if isFresh, pending.isEmpty, outdated.isEmpty, page.deleted.isEmpty {
            let leading = Self.leadingKnown(page, known, versionColumn)
            stored = leading == 0 ? nil : Array(leading..<page.rows.count)
            return
        }
        var nextDeleted = page.deleted[...]
        var kept: [Int] = []
        for index in 0..<page.rows.count {
            let isDeleted = nextDeleted.first == index
            if isDeleted { nextDeleted.removeFirst() }
            try page.rows.withRow(at: index) { view in
                let version = versionColumn.flatMap { view.string(at: $0) }
                if !pending.isEmpty, let operation = pending[schema.itemKey(view.id)] {
                    let known = try (operation.pulled ?? operation.base).map(page.codec.row)
                    if known?.version != version || version == nil {
                        rebased.append((operation, index))
                    }
                } else if !outdated.isEmpty, let end = outdated[schema.itemKey(view.id)],
                    try !Self.isNewer(view, schema, reader)
                {
                    // Its operation ended after the page was asked for. A row that is no longer here was deleted: in the
                    // version that the page shows, or it is there again in another.
                    if !isDeleted, version != end.version, try reader.row(in: schema.name, id: view.key) == nil {
                        passedOver = view["updatedAt"]?.timestamp.map { min($0, passedOver ?? $0) } ?? passedOver
                    }
                } else if isDeleted {
                    if try reader.row(in: schema.name, id: view.key) != nil { removed.append(view.key) }
                } else if try !Self.isKnown(view, version, known, isFresh: isFresh, schema, reader) {
                    kept.append(index)
                }
            }
        }
        stored = kept.count == page.rows.count ? nil : kept
    }

    /// How many rows at the beginning the page before brought: in the server's order they come first.
    private static func leadingKnown(_ page: PulledPage, _ known: [String: String], _ versionColumn: Int?) -> Int {
        guard !known.isEmpty, let versionColumn else { return 0 }
        return (0..<page.rows.count).first { index in
            page.rows.withRow(at: index) { view in
                view.string(at: versionColumn).map { known[view.id] != $0 } ?? true
            }
        } ?? page.rows.count
    }

    private static func isKnown(
        _ view: borrowing RowView, _ version: String?, _ known: [String: String], isFresh: Bool, _ schema: TableSchema,
        _ reader: some StoreReader
    ) throws -> Bool {
        guard let version else { return false }
        if known[view.id] == version { return true }
        guard !isFresh else { return false }
        return try reader.withRow(in: schema.name, id: view.key) { $0["version"]?.string } == version
    }

    /// Whether the server changed the row after the state that is stored.
    private static func isNewer(
        _ view: borrowing RowView, _ schema: TableSchema, _ reader: some StoreReader
    ) throws -> Bool {
        guard let updatedAt = view["updatedAt"]?.timestamp, let stored = try reader.row(in: schema.name, id: view.key)
        else { return false }
        return updatedAt > stored["updatedAt"]?.timestamp ?? .min
    }

    /// The oldest operation of each row with pending operations, by the row's key.
    private static func pendingOperations(
        of schema: TableSchema, _ operations: OperationStore, in reader: some StoreReader
    ) throws -> [String: TableOperation] {
        let query = Query(operations.tables.operations).filter(.column("table") == .value(schema.name)).order(by: "id")
        let pending = try operations.operations(matching: query, in: reader).map { ($0.itemKey, $0) }
        return Dictionary(pending) { oldest, _ in oldest }
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
