internal import Foundation
package import TidelineStore

/// The state of one read or write body: the tables as it sees them, and its changes.
final class PlainSession {
    let flaw: Flaw?
    /// The state that a flawed store reads instead of its snapshot.
    let elsewhere: (() -> PlainState)?
    var state: PlainState
    /// The tables as they were when the body began.
    let start: PlainState
    var changes: [PlainChange] = []
    /// The error after which the transaction can only be rolled back.
    var failure: StoreError?
    var isOpen = true
    /// What a flawed store keeps from one query to the next.
    var memory: PlainMemory?
    /// The time that the queries may take together, and the end of that time.
    var timeLimit: (duration: Duration, limit: QueryTimeLimit)?
    /// The external commit number as of a transaction.
    var externalCommitNumber: UInt64?
    /// Called after each change.
    var changed: (PlainState) -> Void = { _ in }

    init(_ state: PlainState, flaw: Flaw?, elsewhere: (() -> PlainState)? = nil) {
        self.state = state
        start = state
        self.flaw = flaw
        self.elsewhere = elsewhere
    }

    /// Returns a table as reads see it.
    func table(_ name: String) throws -> PlainTable {
        guard isOpen || flaw == .handleOutlivesBody else { throw PlainGate.closed }
        let state = elsewhere?() ?? state
        if flaw == .undefinedTableIsEmpty, state.tables[name] == nil {
            return PlainTable(TableLayout(TableSchema(name, columns: []), stored: []), flaw: flaw)
        }
        let table = try state.table(name)
        let isSpelledAlike = table.layout.schema.name.utf8.elementsEqual(name.utf8)
        guard isSpelledAlike || flaw != .tableNamesComparedByBytes else { throw PlainState.undefined(name) }
        return table
    }

    /// Throws if the queries have taken too long.
    func checkTime() throws {
        try memory?.checkTime()
        guard let timeLimit else { return }
        try (flaw == .timeLimitPerQuery ? QueryTimeLimit(timeLimit.duration) : timeLimit.limit).check()
    }

    func withRow<T>(in name: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        let table = try table(name)
        let layout = table.layout
        guard id.type == layout.schema.idType || flaw == .idTypeNotChecked else { return nil }
        var key = table.key(of: flaw == .idTypeNotChecked ? .string(id.text) : id)
        if flaw == .lookupHeedsCase {
            guard let row = table.rows[key], row.id == id else { return nil }
        }
        if flaw == .lookupTrimsID, case .string(let text) = id {
            key = table.key(of: .string(text.trimmingCharacters(in: .whitespaces)))
        }
        guard let row = table.rows[key] else {
            if flaw == .missThrows { throw StoreError(.invalidValue, "no such row", table: name, id: id.text) }
            return nil
        }
        var batch = PackedRows(shape: layout.shape)
        try batch.append(row, positions: layout.positions)
        return try batch.withRow(at: 0, body)
    }

    /// Runs a change. If it fails, the transaction fails too, even if the body catches the error.
    func changing<T>(_ change: () throws -> T) throws -> T {
        guard isOpen || flaw == .handleOutlivesBody else { throw PlainGate.closed }
        defer { changed(state) }
        do {
            return try change()
        } catch let error as StoreError where error.code != .noSuchTable {
            failure = error
            throw flaw?.told(error) ?? error
        }
    }
}

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
