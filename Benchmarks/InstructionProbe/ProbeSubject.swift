internal import TidelineBenchmark
internal import TidelineLMDB
internal import TidelineLevelDB
internal import TidelineMemory
internal import TidelineSQLite
internal import TidelineStore

/// A subject of the counts.
struct ProbeSubject: Sendable {
    /// The name in the table and in the record: a baseline's is its store's with `-c`.
    let id: String
    /// Makes it.
    let make: @Sendable () throws -> BenchmarkSubject

    static let all: [ProbeSubject] = [
        ProbeSubject(id: "sqlite") { plain("sqlite") { try SQLiteStore(path: $0 + "/store.sqlite") } },
        ProbeSubject(id: "lmdb") { plain("lmdb") { try LMDBStore(path: $0 + "/store.lmdb") } },
        ProbeSubject(id: "leveldb") { plain("leveldb") { try LevelDBStore(path: $0 + "/store.leveldb") } },
        ProbeSubject(id: "memory") { plain("memory") { _ in try MemoryStore() } },
    ]

    private static func plain<S: LocalStore>(
        _ name: String, _ open: @escaping @Sendable (String) throws -> S
    ) -> BenchmarkSubject {
        BenchmarkSubject(name: name, kind: .store, engine: name, durability: .normal) { opening in
            try PlainSession(open, opening)
        }
    }
}
