internal import TidelineBenchmark

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
