#if Commands
/// A measured piece of work, one line of the report.
package struct Workload: Sendable {
    /// The identifier for `--filter`, such as `upsert-packed-1000`: lowercase letters, digits and hyphens.
    package let id: String
    /// The section of the report.
    package let group: WorkloadGroup
    /// The title in tables, such as `bulk upsert, packed rows, 1000 a transaction`.
    package let title: String
    /// One or two sentences about the work and the meaning of its figure.
    package let explanation: String
    /// The unit of the figure, such as `row` or `commit`.
    package let unit: String
    /// The number of units in an iteration.
    package let units: Int
    /// The kind of subjects that perform it.
    package let field: Field
    /// Whether `--quick` includes it.
    package let isQuick: Bool
    /// The content of the database when an iteration starts.
    package let start: Start
    /// The work before the measurement, in each iteration.
    package let prepare: WorkMaker
    /// The measured steps, in order; the works of a step run concurrently, each on its own thread. Making works is not
    /// measured.
    package let steps: [WorkMaker]
    /// The work after the measurement that restores the database.
    package let restore: WorkMaker
    /// Whether the rows after the steps are the same for all subjects, in each iteration.
    package let hasFixedRows: Bool

    /// Makes works when they are needed, so that not all of them are in memory.
    package typealias WorkMaker = @Sendable () throws -> [Work]

    /// The kind of subjects that perform a workload.
    package enum Field: String, Sendable, Codable {
        /// Subjects with a database.
        case databases
        /// JSON parsers, which have no database.
        case json
    }

    /// The content of a database when an iteration starts.
    package enum Start: Sendable, Hashable {
        /// The database is new and empty.
        case empty(BenchmarkTable)
        /// The database contains all rows of the run. The next workload with this start uses it again, so a workload
        /// that changes rows restores them in ``Workload/restore``.
        case loaded(BenchmarkTable)
    }

    /// Creates a workload; see the properties.
    package init(
        _ id: String, _ group: WorkloadGroup, _ title: String, explanation: String, unit: String, units: Int,
        field: Field = .databases, isQuick: Bool = false, hasFixedRows: Bool = true, start: Start,
        prepare: @escaping WorkMaker = { [] }, steps: [WorkMaker], restore: @escaping WorkMaker = { [] }
    ) {
        self.id = id
        self.group = group
        self.title = title
        self.explanation = explanation
        self.unit = unit
        self.units = units
        self.field = field
        self.isQuick = isQuick
        self.hasFixedRows = hasFixedRows
        self.start = start
        self.prepare = prepare
        self.steps = steps
        self.restore = restore
    }
}

/// The sections of a report, in order.
package enum WorkloadGroup: String, Sendable, Codable, CaseIterable {
    case writing, reading, queries, deleting, opening, parallel, mixes, live, sync, json

    /// The heading of the section.
    package var title: String {
        switch self {
        case .writing: "Writing"
        case .reading: "Reading"
        case .queries: "Queries"
        case .deleting: "Deleting"
        case .opening: "Opening"
        case .parallel: "Several threads"
        case .mixes: "Mixes (YCSB)"
        case .live: "Live queries"
        case .sync: "Sync"
        case .json: "JSON"
        }
    }
}

extension Workload {
    /// All workloads for a number of rows, in the order of the report.
    package static func all(_ settings: BenchmarkSettings, rows: Int) -> [Workload] {
        StoreWorkloads(settings, rows: rows).all + syncWorkloads(settings, rows: rows)
    }
}
#endif
