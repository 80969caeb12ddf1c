public import TidelineStore

/// The writer of an ``ObservedStore``, which records the rows that it changes in tables under observation.
public struct ObservedWriter<Base: StoreWriter>: WriterLayer {
    public let base: Base
    /// The records, or `nil` if nobody observes the store.
    let recorder: ChangeRecorder?

    public func upsert(_ rows: borrowing PackedRows, into table: String) throws {
        if let recorded = try recorder?.table(table, in: base) {
            recorded.expect(rows.count)
            if !recorded.isReadAgain { try rows.forEachRow { try recorded.record($0.id, in: base) } }
        }
        try base.upsert(rows, into: table)
    }

    @discardableResult
    public func delete(ids: [RowID], from table: String) throws -> Int {
        if let recorded = try recorder?.table(table, in: base) {
            recorded.expect(ids.count)
            if !recorded.isReadAgain { for id in ids { try recorded.record(id, in: base) } }
        }
        return try base.delete(ids: ids, from: table)
    }

    @discardableResult
    public func delete(matching query: TableQuery) throws -> Int {
        if let recorded = try recorder?.table(query.table, in: base), !recorded.isReadAgain {
            var whole = query
            (whole.selection, whole.includesTotalCount) = (nil, false)
            try base.scan(whole) { row in
                try recorded.record(row)
                return recorded.isReadAgain ? .stop : .next
            }
        }
        return try base.delete(matching: query)
    }
}
