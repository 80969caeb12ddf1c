internal import TidelineBenchmark
internal import TidelineLMDB
internal import TidelineLevelDB
internal import TidelineMemory
internal import TidelineSQLite

/// A subject of the counts.
struct ProbeSubject: Sendable {
    /// The name in the table and in the record: a baseline's is its store's with `-c`.
    let id: String
    /// Makes it.
    let make: @Sendable () throws -> BenchmarkSubject

    static let all: [ProbeSubject] = [
        ProbeSubject(id: "sqlite") {
            try BenchmarkStore { try SQLiteStore(path: $0 + "/store.sqlite") }.makeSubject()
        },
        ProbeSubject(id: "lmdb") {
            try BenchmarkStore { try LMDBStore(path: $0 + "/store.lmdb") }.makeSubject()
        },
        ProbeSubject(id: "leveldb") {
            try BenchmarkStore { try LevelDBStore(path: $0 + "/store.leveldb") }.makeSubject()
        },
        ProbeSubject(id: "memory") { try BenchmarkStore { _ in try MemoryStore() }.makeSubject() },
    ]
}
