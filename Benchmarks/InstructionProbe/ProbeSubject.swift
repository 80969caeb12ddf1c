internal import TidelineBaselines
internal import TidelineBenchmark
internal import TidelineLMDB
internal import TidelineLevelDB
internal import TidelineMemory
internal import TidelineSQLite

/// A subject of the counts.
struct ProbeSubject: Sendable {
    /// The name in the table and in the record: a baseline's is its store's with `-c`.
    let id: String
    /// Which works are its.
    var field = Workload.Field.databases
    /// Whether it is an engine without a store around it.
    var isBaseline = false
    /// Makes it.
    let make: @Sendable () throws -> BenchmarkSubject

    /// Whether a work is one of its.
    func does(_ work: CountedWork) -> Bool { work.field == field && !(work.isOfStores && isBaseline) }

    /// Every store, each with the baseline of its engine behind it, all of the same durability; then the readers of JSON.
    static let all = stores.flatMap { [$0] + baselines(of: $0.id) } + parsers

    private static let stores: [ProbeSubject] = [
        ProbeSubject(id: "sqlite") {
            try BenchmarkStore { try SQLiteStore(path: $0 + "/store.sqlite") }.makeSubject()
        },
        ProbeSubject(id: "lmdb") {
            let options = LMDBOptions(durability: .normal)
            return try BenchmarkStore { try LMDBStore(path: $0 + "/store.lmdb", options: options) }.makeSubject()
        },
        ProbeSubject(id: "leveldb") {
            try BenchmarkStore { try LevelDBStore(path: $0 + "/store.leveldb") }.makeSubject()
        },
        ProbeSubject(id: "memory") { try BenchmarkStore { _ in try MemoryStore() }.makeSubject() },
    ]

    private static let parsers: [ProbeSubject] = [
        ProbeSubject(id: "json", field: .json) { JSONSubjects.tideline },
        ProbeSubject(id: "json-c", field: .json) { Baselines.json },
    ]

    private static func baselines(of engine: String) -> [ProbeSubject] {
        guard let baseline = Baselines.subject(engine: engine, durability: .normal) else { return [] }
        return [ProbeSubject(id: "\(engine)-c", isBaseline: true) { baseline }]
    }
}
