public import TidelineStore

/// The reading methods of ``SQLiteReader`` and ``SQLiteWriter``.
protocol SessionReader: StoreReader {
    var session: Session { get }
}

extension SessionReader {
    public func schema(of table: String) throws -> TableSchema { try session.table(table).schema }

    public func shape(of table: String) throws -> RowShape { try session.table(table).shape }

    public func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try session.withRow(in: table, id: id, body)
    }

    @discardableResult
    public func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try session.scan(query, body)
    }

    public func count(_ query: TableQuery) throws -> Int { try session.count(query) }
}

/// Reads within one snapshot of a ``SQLiteStore``.
public struct SQLiteReader: SessionReader {
    let session: Session

    public var limitTime: ((Duration) throws -> Void)? { { [session] in try session.limitTime(QueryTimeLimit($0)) } }
}

/// Reads and writes within one transaction of a ``SQLiteStore``.
public struct SQLiteWriter: SessionReader, StoreWriter {
    let session: Session

    public func upsert(_ rows: borrowing PackedRows, into table: String) throws {
        try session.upsert(rows, into: table)
    }

    @discardableResult
    public func delete(ids: [RowID], from table: String) throws -> Int { try session.delete(ids: ids, from: table) }

    @discardableResult
    public func delete(matching query: TableQuery) throws -> Int { try session.delete(matching: query) }

    public var limitTime: ((Duration) throws -> Void)? { nil }

    public func externalCommitNumber() throws -> UInt64? { try session.externalCommitNumber() }
}
