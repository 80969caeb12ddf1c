public import TidelineStore

/// What the benchmark measures: a store of Tideline's, or something that does the same work without it.
public struct BenchmarkSubject: Sendable {
    /// What a subject is to the others.
    public enum Kind: String, Sendable, Codable {
        /// A local store.
        case store
        /// The same work in C on the engine below a store: the limit that its figures are held against.
        case baseline
        /// Something else that does the same work, such as another library over the same engine.
        case other
    }

    /// The name in reports; no two subjects of a run have the same.
    public var name: String
    /// What it is to the others.
    public var kind: Kind
    /// Which workloads are its.
    public var field: Workload.Field
    /// The engine at work, such as `sqlite`: a subject is held against the baseline of its engine.
    public var engine: String
    /// The engine's version, as the engine tells it.
    public var engineVersion: String?
    /// The settings that it is opened with, as the report shows them, such as `durability=full`.
    public var settings: [String]
    /// What a commit survives. Subjects of unequal durability are never compared.
    public var durability: StoreCapabilities.Durability
    /// Whether the rows are there again after it was closed and opened.
    public var isPersistent: Bool
    /// Opens the database in a folder, or makes an empty one there.
    public var open: @Sendable (BenchmarkOpening) throws -> any BenchmarkSession
    /// Makes the files of the closed database in a folder as small as they get; nil where nothing is known to do it.
    public var compact: (@Sendable (_ directory: String) throws -> Void)?

    /// A subject; see the properties.
    public init(
        name: String, kind: Kind, field: Workload.Field = .databases, engine: String, engineVersion: String? = nil,
        settings: [String] = [],
        durability: StoreCapabilities.Durability, isPersistent: Bool = true,
        compact: (@Sendable (_ directory: String) throws -> Void)? = nil,
        open: @escaping @Sendable (BenchmarkOpening) throws -> any BenchmarkSession
    ) {
        self.name = name
        self.kind = kind
        self.field = field
        self.engine = engine
        self.engineVersion = engineVersion
        self.settings = settings
        self.durability = durability
        self.isPersistent = isPersistent
        self.compact = compact
        self.open = open
    }
}

/// What is asked of a subject that opens its database.
public struct BenchmarkOpening: Sendable {
    /// The folder, which exists and is the database's alone.
    public var directory: String
    /// The one table that the work is done on, which is made if it does not exist.
    public var table: BenchmarkTable

    /// An opening.
    public init(directory: String, table: BenchmarkTable) {
        self.directory = directory
        self.table = table
    }
}
