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

/// A subject's open database.
///
/// ``perform(_:noting:)`` may be called on several threads at once: reading beside reading and beside one writer.
public protocol BenchmarkSession: AnyObject, Sendable {
    /// Does the work and answers what it came to.
    ///
    /// This is the time that is measured, so that nothing else belongs here: what the work needs is in it, made before.
    ///
    /// - Parameter latencies: Takes the time of each operation, where ``Work`` says what one is.
    /// - Throws: ``WorkNotApplicable`` for work that the subject does not do; whatever the subject throws.
    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer

    /// Makes what the subject itself would be given for the work, such as records of its own, before the time is taken; not
    /// every work is prepared. The default does nothing.
    func prepare(_ work: Work) throws

    /// Closes the database.
    func close() throws
}

extension BenchmarkSession {
    public func prepare(_ work: Work) {}
}

/// The error of a subject that is asked for work it does not do; the report says so in its place.
public struct WorkNotApplicable: Error, CustomStringConvertible {
    /// Why not, such as `bare engine: no sync`.
    public let reason: String

    /// An error with its reason.
    public init(_ reason: String) { self.reason = reason }

    public var description: String { reason }
}

/// What work came to: it must be the same for all who do it.
public struct Answer: Sendable, Hashable, Codable {
    /// How many rows were written, found or removed.
    public var count: Int
    /// What the rows held that were read; see ``RowChecksum``. Zero where nothing is read.
    public var checksum: UInt64

    /// An answer.
    public init(count: Int = 0, checksum: UInt64 = 0) {
        self.count = count
        self.checksum = checksum
    }

    /// Adds what a further part of the work came to: checksums of parts add up, so that their order does not matter.
    public static func += (a: inout Answer, b: Answer) {
        a.count += b.count
        a.checksum &+= b.checksum
    }
}
