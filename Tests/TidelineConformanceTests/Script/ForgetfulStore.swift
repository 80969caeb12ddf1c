import TidelineKeyValue
import TidelineMemory
import TidelineStore

/// An in-memory store that deletes only the first of several ids. It uses only public API, so that a test can compile
/// this file together with a printed script.
final class ForgetfulStore: LocalStore {
    private let base: MemoryStore

    init() throws { base = try MemoryStore() }

    var capabilities: StoreCapabilities { base.capabilities }
    func define(_ tables: [TableSchema]) throws { try base.define(tables) }
    func tables() throws -> [TableSchema] { try base.tables() }
    func close() throws { try base.close() }

    func read<T>(_ body: (ForgetfulWriter) throws -> T) throws -> T {
        try base.read { try body(ForgetfulWriter(reader: $0, writer: nil)) }
    }

    func write<T>(_ body: (ForgetfulWriter) throws -> T) throws -> T {
        try base.write { try body(ForgetfulWriter(reader: $0, writer: $0)) }
    }
}

struct ForgetfulWriter: StoreWriter {
    let reader: any StoreReader
    let writer: (any StoreWriter)?

    func schema(of table: String) throws -> TableSchema { try reader.schema(of: table) }
    func count(_ query: TableQuery) throws -> Int { try reader.count(query) }

    func withRow<T>(in table: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        try reader.withRow(in: table, id: id, body)
    }

    @discardableResult
    func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        try reader.scan(query, body)
    }

    func upsert(_ rows: borrowing PackedRows, into table: String) throws { try writer?.upsert(rows, into: table) }

    @discardableResult
    func delete(ids: [RowID], from table: String) throws -> Int {
        try writer?.delete(ids: Array(ids.prefix(1)), from: table) ?? 0
    }

    @discardableResult
    func delete(matching query: TableQuery) throws -> Int { try writer?.delete(matching: query) ?? 0 }
}
