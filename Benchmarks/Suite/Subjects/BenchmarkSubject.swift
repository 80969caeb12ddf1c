#if Commands
public import TidelineStore

/// A subject of the benchmark: a store of Tideline, or other code that performs the same work.
public struct BenchmarkSubject: Sendable {
    /// The role of a subject.
    public enum Kind: String, Sendable, Codable {
        /// A local store.
        case store
        /// The same work in C on the engine below a store, as the upper limit for the store's figures.
        case baseline
        /// Other code that performs the same work, such as another library over the same engine.
        case other
    }

    /// The name in reports, unique in a run.
    public var name: String
    /// The role.
    public var kind: Kind
    /// The kind of workloads that it performs.
    package var field: Workload.Field = .databases
    /// The engine, such as `sqlite`; a subject is compared with the baseline of its engine.
    public var engine: String
    /// The version that the engine reports.
    public var engineVersion: String?
    /// The settings to show in reports, such as `durability=full`.
    public var settings: [String]
    /// The durability of a commit. Subjects of different durability are never compared.
    public var durability: StoreCapabilities.Durability
    /// Whether rows remain after it is closed and opened again.
    public var isPersistent: Bool
    /// Opens or creates the database in a directory.
    public var open: @Sendable (BenchmarkOpening) throws -> any BenchmarkSession
    /// Compacts the files of the closed database in a directory; `nil` if there is no compaction.
    public var compact: (@Sendable (_ directory: String) throws -> Void)?

    /// Creates a subject; see the properties.
    public init(
        name: String, kind: Kind, engine: String, engineVersion: String? = nil, settings: [String] = [],
        durability: StoreCapabilities.Durability, isPersistent: Bool = true,
        compact: (@Sendable (_ directory: String) throws -> Void)? = nil,
        open: @escaping @Sendable (BenchmarkOpening) throws -> any BenchmarkSession
    ) {
        self.name = name
        self.kind = kind
        self.engine = engine
        self.engineVersion = engineVersion
        self.settings = settings
        self.durability = durability
        self.isPersistent = isPersistent
        self.compact = compact
        self.open = open
    }

    /// Returns the subject for another kind of workloads than databases.
    package func performing(_ field: Workload.Field) -> BenchmarkSubject {
        var subject = self
        subject.field = field
        return subject
    }
}

/// The arguments for opening a database.
public struct BenchmarkOpening: Sendable {
    /// The existing directory, which belongs to the database alone.
    public var directory: String
    /// The table to define.
    public var table: BenchmarkTable

    /// Creates the arguments.
    public init(directory: String, table: BenchmarkTable) {
        self.directory = directory
        self.table = table
    }
}

/// An open database of a subject.
///
/// ``perform(_:noting:)`` is called concurrently: by any number of readers and one writer.
public protocol BenchmarkSession: AnyObject, Sendable {
    /// Performs work and returns its answer.
    ///
    /// The whole call is measured, so it must do nothing else. The work contains everything it needs.
    ///
    /// - Parameter latencies: Records the latency of each operation; ``Work`` defines the operations of each case.
    /// - Throws: ``WorkNotApplicable`` for work that the subject does not support, or an error of the subject.
    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer

    /// Prepares data that an app would already have, such as records of its own, before the measurement. Not every work
    /// is prepared. The default does nothing.
    func prepare(_ work: Work) throws

    /// Closes the database.
    func close() throws
}

extension BenchmarkSession {
    public func prepare(_ work: Work) {}

    /// Performs work without recording latencies.
    package func perform(_ work: Work) throws -> Answer { try perform(work, noting: LatencySink()) }
}

/// The error of a subject that does not support a work; reports show it in place of a figure.
public struct WorkNotApplicable: Error, CustomStringConvertible {
    /// The reason, such as `bare engine: no sync`.
    public let reason: String

    /// Creates an error with a reason.
    public init(_ reason: String) { self.reason = reason }

    public var description: String { reason }
}

/// The answer of work, which must be the same for all subjects.
public struct Answer: Sendable, Hashable, Codable {
    /// The number of rows that were written, found or removed.
    public var count: Int
    /// The checksum of the rows that were read, or zero if none was read; see ``RowChecksum``.
    public var checksum: UInt64

    /// Creates an answer.
    public init(count: Int = 0, checksum: UInt64 = 0) {
        self.count = count
        self.checksum = checksum
    }

    /// Adds the answer of another part of the work; the order of the parts does not matter.
    public static func += (a: inout Answer, b: Answer) {
        a.count += b.count
        a.checksum &+= b.checksum
    }
}
#endif
