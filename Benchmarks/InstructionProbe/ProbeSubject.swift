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

/// A workload of the benchmark whose instructions are counted.
struct CountedWork: Sendable {
    /// The workload's id, which is also the name in the table and in the record.
    let id: String
    /// Who does it.
    var field = Workload.Field.databases
    /// Whether only stores do it, and no baseline of an engine.
    var isOfStores = false

    static let all: [CountedWork] = [
        CountedWork(id: "upsert-packed"),
        CountedWork(id: "upsert-rows"),
        CountedWork(id: "reupsert"),
        CountedWork(id: "commit"),
        CountedWork(id: "get-one-view"),
        CountedWork(id: "get-one-row"),
        CountedWork(id: "get-each-view"),
        CountedWork(id: "scan-view"),
        CountedWork(id: "scan-typed"),
        CountedWork(id: "scan-row"),
        CountedWork(id: "find-index"),
        CountedWork(id: "find-plain"),
        CountedWork(id: "count-index"),
        CountedWork(id: "count-plain"),
        CountedWork(id: "delete-ids"),
        CountedWork(id: "pull-replay-1000x1"),
        CountedWork(id: "local-edits", isOfStores: true),
        CountedWork(id: "json-parse", field: .json),
    ]
}

extension Work {
    /// The work, or so much of it that counting takes no time to speak of, with its units; nil units are the workload's.
    var shortened: (work: Work, units: Int?) {
        switch self {
        case .get(let ids, let access, let transaction):
            let ids = Array(ids.prefix(2000))
            return (.get(ids: ids, access: access, transaction: transaction), ids.count)
        case .find(let filters, let limit):
            let filters = Array(filters.prefix(20))
            return (.find(filters, limit: limit), filters.count)
        case .count(let filters):
            let filters = Array(filters.prefix(20))
            return (.count(filters), filters.count)
        default: return (self, nil)
        }
    }
}
