internal import TidelineStore

/// Changes the rows of a table without queueing operations, and the rows that its pending operations keep.
struct LocalRewrite {
    let operations: OperationStore
    let schema: TableSchema

    /// The number of rows that are read and written at a time.
    private static let batchSize = 500

    /// - Parameter pending: The pending operations of the table.
    /// - Returns: The number of rows that changed.
    func perform(
        on pending: [TableOperation], in writer: some StoreWriter, _ change: (inout Row) throws -> Void
    ) throws -> Int {
        var count = 0
        let all = TableQuery(schema.name).order(by: "id").limit(Self.batchSize)
        var query = all
        while true {
            let rows = try writer.rows(matching: query).rows
            let edits = try rows.compactMap { try self.edits(of: $0, change) }
            if !edits.isEmpty { try writer.upsert(edits, into: schema.name) }
            count += edits.count
            guard rows.count == Self.batchSize, let last = rows.last else { break }
            query = all.filter(.column("id") > .value(last.idText))
        }
        for operation in pending {
            let changed = try rewritten(operation, change)
            let isSame =
                changed.localBase == operation.localBase && changed.deletedItem == operation.deletedItem
                && changed.pulled == operation.pulled
            if !isSame { try operations.save(changed, in: writer) }
        }
        return count
    }

    /// Returns the columns of a row that the closure changes, or `nil` if it changes none.
    private func edits(of stored: Row, _ change: (inout Row) throws -> Void) throws -> Row? {
        var changed = stored
        try change(&changed)
        let edits = try RowInput.edits(from: stored, to: changed, of: schema)
        return edits.isEmpty ? nil : edits
    }

    /// Returns an operation whose rows are changed in the same way.
    private func rewritten(_ operation: TableOperation, _ change: (inout Row) throws -> Void) throws -> TableOperation {
        func rewritten(_ json: String) throws -> String {
            let row = try RowCodec(schema: schema).row(json)
            guard !row.isTombstone, let edits = try self.edits(of: row, change) else { return json }
            return edits.values.filter { $0.name != "id" }.reduce(into: row) { $0[$1.name] = $1.value }.json
        }
        var changed = operation
        // The base row remains the server's, so that the operation's own lost requests are recognized.
        changed.localBase = try (operation.localBase ?? operation.base).map(rewritten)
        if changed.localBase == operation.base { changed.localBase = nil }
        changed.deletedItem = try operation.deletedItem.map(rewritten)
        changed.pulled = try operation.pulled.map(rewritten)
        return changed
    }
}
