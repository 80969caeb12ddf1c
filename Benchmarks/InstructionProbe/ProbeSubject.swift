#if Commands
internal import TidelineBaselines
internal import TidelineBenchmark
internal import TidelineLMDB
internal import TidelineLevelDB
internal import TidelineMemory
internal import TidelineSQLite
internal import TidelineStore

/// A subject whose instructions are counted.
struct ProbeSubject: Sendable {
    /// The name in tables and records; a baseline has the name of its store with the suffix `-c`.
    let id: String
    /// The kind of workloads.
    var field = Workload.Field.databases
    /// Whether it is a baseline.
    var isBaseline = false
    /// Creates the subject.
    let make: @Sendable () throws -> BenchmarkSubject

    /// Whether the subject performs a work.
    func does(_ work: CountedWork) -> Bool { work.field == field && !(work.isOfStores && isBaseline) }

    /// The stores, each followed by its baseline with the same durability, and the JSON parsers.
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

/// A workload whose instructions are counted.
struct CountedWork: Sendable {
    /// The identifier of the workload, also in tables and records.
    let id: String
    /// The kind of subjects that perform it.
    var field = Workload.Field.databases
    /// Whether only stores perform it, and no baselines.
    var isOfStores = false

    static let all =
        [
            "upsert-packed", "upsert-records", "upsert-rows", "reupsert", "commit", "get-one-view", "get-one-typed",
            "get-one-record", "get-one-row", "get-each-view", "scan-view", "scan-typed", "scan-record", "scan-row",
            "find-index", "find-plain", "count-index", "count-plain", "delete-ids", "pull-replay-1000x1",
            "local-inserts", "local-inserts-1000",
        ].map { CountedWork(id: $0) } + [
            CountedWork(id: "pull-replay-dialect", isOfStores: true), CountedWork(id: "pull-pending", isOfStores: true),
            CountedWork(id: "local-edits", isOfStores: true), CountedWork(id: "push-rtt0", isOfStores: true),
            CountedWork(id: "json-parse", field: .json),
        ]
}

extension Work {
    /// The work, shortened to limit the time of counting, and its units; `nil` stands for the units of the workload.
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
#endif
