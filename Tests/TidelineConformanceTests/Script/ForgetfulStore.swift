import TidelineKeyValue
import TidelineMemory
import TidelineStore

/// An in-memory store that deletes only the first of several ids. It uses only public API, so that a test can compile
/// this file together with a printed script.
final class ForgetfulStore: StoreLayer {
    typealias Reader = MemoryStore.Reader
    typealias Writer = ForgetfulWriter

    let base: MemoryStore

    init() throws { base = try MemoryStore() }

    func redefine(_ body: (ForgetfulWriter) throws -> [TableSchema]) throws {
        try base.redefine { try body(ForgetfulWriter(base: $0)) }
    }

    func write<T>(_ body: (ForgetfulWriter) throws -> T) throws -> T {
        try base.write { try body(ForgetfulWriter(base: $0)) }
    }
}

struct ForgetfulWriter: WriterLayer {
    let base: MemoryStore.Writer

    func delete(ids: [RowID], from table: String) throws -> Int {
        try base.delete(ids: Array(ids.prefix(1)), from: table)
    }
}
