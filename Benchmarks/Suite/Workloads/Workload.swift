/// One measured piece of work, as a row of the report.
public struct Workload: Sendable {
    /// The name that `--filter` goes by, such as `upsert-packed-1000`: lower case, digits and hyphens.
    public let id: String
    /// The part of the report it stands in.
    public let group: WorkloadGroup
    /// What it is called in a table, such as `bulk upsert, packed rows, 1000 a transaction`.
    public let title: String
    /// What exactly is done and what the figure tells, in a sentence or two.
    public let explanation: String
    /// What is counted: the figure is a number of these per second, such as `row` or `commit`.
    public let unit: String
    /// How many units one repetition does.
    public let units: Int
    /// Who does it.
    public let field: Field
    /// Whether `--quick` runs it.
    public let isQuick: Bool
    /// What the database holds when a repetition begins.
    public let start: Start
    /// What is done before the time is taken, in each repetition.
    public let prepare: WorkMaker
    /// What is timed, one step after the other; the works of a step run at once, on a thread each. What a maker does is not
    /// timed.
    public let steps: [WorkMaker]
    /// What is done after the time was taken, so that the database is as it was.
    public let restore: WorkMaker

    /// Makes work when its turn comes, so that not all of it is held in memory.
    public typealias WorkMaker = @Sendable () throws -> [Work]

    /// Who does a workload.
    public enum Field: String, Sendable, Codable {
        /// Subjects with a database.
        case databases
        /// Readers of JSON, which have none.
        case json
    }

    /// What a database holds before a repetition.
    public enum Start: Sendable, Hashable {
        /// It is new and empty.
        case empty(BenchmarkTable)
        /// It holds all rows of the run, and keeps being used by the next workload that begins so: one that changes rows
        /// puts them back in ``Workload/restore``.
        case loaded(BenchmarkTable)
    }

    /// A workload; see the properties.
    public init(
        _ id: String, _ group: WorkloadGroup, _ title: String, explanation: String, unit: String, units: Int,
        field: Field = .databases, isQuick: Bool = false, start: Start, prepare: @escaping WorkMaker = { [] },
        steps: [WorkMaker], restore: @escaping WorkMaker = { [] }
    ) {
        self.id = id
        self.group = group
        self.title = title
        self.explanation = explanation
        self.unit = unit
        self.units = units
        self.field = field
        self.isQuick = isQuick
        self.start = start
        self.prepare = prepare
        self.steps = steps
        self.restore = restore
    }
}

/// The parts of a report, in their order.
public enum WorkloadGroup: String, Sendable, Codable, CaseIterable {
    case writing
    case reading
    case queries
    case deleting
    case opening
    case parallel
    case mixes
    case sync
    case json

    /// The heading.
    public var title: String {
        switch self {
        case .writing: "Writing"
        case .reading: "Reading"
        case .queries: "Queries"
        case .deleting: "Deleting"
        case .opening: "Opening"
        case .parallel: "Several threads"
        case .mixes: "Mixes (YCSB)"
        case .sync: "Sync"
        case .json: "JSON"
        }
    }
}

extension Workload {
    /// Every workload for a number of rows, in the order of the report: the one list there is.
    public static func all(_ settings: BenchmarkSettings, rows: Int) -> [Workload] {
        storeWorkloads(settings, rows: rows) + syncWorkloads(settings, rows: rows)
    }
}

extension Workload {
    /// Those that any database does.
    static func storeWorkloads(_ settings: BenchmarkSettings, rows: Int) -> [Workload] {
        StoreWorkloads(settings, rows: rows).all
    }
}
