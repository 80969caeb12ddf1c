package import TidelineStore

/// The reader of a ``PlainStore``.
package struct PlainReader: StoreReader {
    let session: PlainSession

    package func schema(of table: String) throws -> TableSchema { try session.table(table).layout.schema }
    package func shape(of table: String) throws -> RowShape { try session.table(table).layout.shape }

    package func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try session.withRow(in: table, id: id, body)
    }

    @discardableResult
    package func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try session.scan(query, body)
    }

    package func count(_ query: TableQuery) throws -> Int { try session.count(query) }

    package var limitTime: ((Duration) throws -> Void)? {
        { [session] duration in
            if session.flaw == .timeLimitIgnored { return }
            session.timeLimit = (duration, QueryTimeLimit(duration))
            if session.flaw == .timeLimitKept { session.memory?.limitTime(QueryTimeLimit(duration)) }
        }
    }
}

/// The writer of a ``PlainStore``, which reads as the reader of its session.
package struct PlainWriter: ReaderLayer, StoreWriter {
    package let base: PlainReader
    private var session: PlainSession { base.session }

    init(session: PlainSession) { base = PlainReader(session: session) }

    package func upsert(_ rows: borrowing PackedRows, into table: String) throws {
        try session.upsert(rows, into: table)
    }

    @discardableResult
    package func delete(ids: [RowID], from table: String) throws -> Int { try session.delete(ids: ids, from: table) }

    @discardableResult
    package func delete(matching query: TableQuery) throws -> Int { try session.delete(matching: query) }

    package var limitTime: ((Duration) throws -> Void)? { nil }

    package func externalCommitNumber() throws -> UInt64? { session.externalCommitNumber }
}
