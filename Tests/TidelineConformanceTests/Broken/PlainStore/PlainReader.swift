import TidelineStore

/// The reader of a ``PlainStore``.
struct PlainReader: StoreReader {
    let session: PlainSession

    func schema(of table: String) throws -> TableSchema { try session.table(table).layout.schema }
    func shape(of table: String) throws -> RowShape { try session.table(table).layout.shape }

    func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try session.withRow(in: table, id: id, body)
    }

    @discardableResult
    func scan(_ query: Query, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try session.scan(query, body)
    }

    func count(_ query: Query) throws -> Int { try session.count(query) }
}

/// The writer of a ``PlainStore``.
struct PlainWriter: StoreWriter {
    let session: PlainSession

    func schema(of table: String) throws -> TableSchema { try session.table(table).layout.schema }
    func shape(of table: String) throws -> RowShape { try session.table(table).layout.shape }

    func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try session.withRow(in: table, id: id, body)
    }

    @discardableResult
    func scan(_ query: Query, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try session.scan(query, body)
    }

    func count(_ query: Query) throws -> Int { try session.count(query) }

    func upsert(_ rows: borrowing PackedRows, into table: String) throws { try session.upsert(rows, into: table) }

    @discardableResult
    func delete(ids: [RowID], from table: String) throws -> Int { try session.delete(ids: ids, from: table) }

    @discardableResult
    func delete(matching query: Query) throws -> Int { try session.delete(matching: query) }
}
