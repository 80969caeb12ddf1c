public import TidelineStore
public import TidelineSupport

/// Everything a run found: what every form of report is made from, and what a later run is compared with.
public struct BenchmarkReport: Sendable, Hashable, Codable {
    /// The form of the JSON, `tideline-bench/1`; it changes when a reader of the old form would misread the new.
    public var schema = Self.currentSchema
    /// Where and when it ran.
    public var environment: BenchmarkEnvironment
    /// What was measured, and how.
    public var settings: BenchmarkSettings
    /// Who was measured.
    public var subjects: [SubjectDescription]
    /// What was found, workload by workload, and within each by the number of rows.
    public var results: [WorkloadResult]
    /// How big the databases were when all was done, subject by subject for each number of rows.
    public var sizes: [DatabaseSize] = []
    /// Whether the run was interrupted, so that some is missing.
    public var isInterrupted = false
    /// Why the run ended early by itself, such as that the disk was full; nil when it did not.
    public var stopReason: String?

    /// The form that this version writes.
    public static let currentSchema = "tideline-bench/1"
}

/// Where and when a run took place.
public struct BenchmarkEnvironment: Sendable, Hashable, Codable {
    /// System, kernel, compiler, date.
    public var host: ReportEnvironment
    /// The processor's name, as the system tells it.
    public var processor: String
    /// The machine's memory in bytes.
    public var memory: Int
    /// The folder's file system, such as `ext4`.
    public var fileSystem: String
    /// The commit that was built, with `+` behind it where files were changed; nil when not known.
    public var commit: String?
    /// The average number of processors that other programs used during the run; nil where the system does not report it.
    public var otherProcessors: Double?
}

/// A subject, as reports tell of it.
public struct SubjectDescription: Sendable, Hashable, Codable {
    /// ``BenchmarkSubject/name``.
    public var name: String
    /// ``BenchmarkSubject/kind``.
    public var kind: BenchmarkSubject.Kind
    /// ``BenchmarkSubject/engine``.
    public var engine: String
    /// ``BenchmarkSubject/engineVersion``.
    public var engineVersion: String?
    /// ``BenchmarkSubject/settings``.
    public var settings: [String]
    /// ``BenchmarkSubject/durability``.
    public var durability: StoreCapabilities.Durability
}

/// What was found of one workload with one number of rows.
public struct WorkloadResult: Sendable, Hashable, Codable {
    /// ``Workload/id``.
    public var id: String
    /// ``Workload/group``.
    public var group: WorkloadGroup
    /// ``Workload/title``.
    public var title: String
    /// ``Workload/explanation``.
    public var explanation: String
    /// What is counted, such as `row`.
    public var unit: String
    /// How many units one repetition does.
    public var units: Int
    /// How many rows the table had.
    public var rows: Int
    /// One for each subject that does it.
    public var subjects: [SubjectResult]
}

/// What was found of one subject in one workload.
public struct SubjectResult: Sendable, Hashable, Codable {
    /// The subject's name.
    public var subject: String
    /// The repetitions, in their order: the *n*th of each subject ran beside each other.
    public var samples: [Sample]
    /// The times of single operations, of all repetitions together; nil where none was noted.
    public var latency: LatencySummary?
    /// Why there is no figure, or none that counts: the work is not this subject's, it failed, or its answer was wrong.
    public var failure: Failure?

    /// Why there is no figure.
    public struct Failure: Sendable, Hashable, Codable {
        /// What kind of a reason it is.
        public enum Kind: String, Sendable, Codable {
            /// The work is not this subject's.
            case notApplicable
            /// The work threw an error.
            case failed
            /// What it came to differs from what the others, or the rows themselves, say.
            case wrongAnswer
        }
        /// What kind of a reason it is.
        public var kind: Kind
        /// The reason in words, such as the error's.
        public var reason: String
    }
}

/// The size of a subject's database that holds all rows, after every workload that used it.
public struct DatabaseSize: Sendable, Hashable, Codable {
    /// The subject's name.
    public var subject: String
    /// How many rows the table has.
    public var rows: Int
    /// Whether the table has the index; see ``BenchmarkTable/isIndexed``.
    public var isIndexed: Bool
    /// How many bytes the files of the closed database have.
    public var bytes: Int
    /// How many they have after they were made as small as they get; nil where nothing is known to do it.
    public var compactedBytes: Int?
}

/// One repetition.
public struct Sample: Sendable, Hashable, Codable {
    /// The time on the wall clock, in seconds.
    public var seconds: Double
    /// The time on all processors, of system and program, in seconds.
    public var cpuSeconds: Double
    /// By how many bytes the process' memory grew at its highest, touched pages of mapped files among them.
    public var peakMemory: Int?
    /// How many bytes were handed to the system in write calls.
    public var bytesWritten: Int?
    /// How many bytes the files had afterwards.
    public var fileSize: Int?
}

/// The distribution of the times of operations, in nanoseconds.
public struct LatencySummary: Sendable, Hashable, Codable {
    /// How many operations were timed.
    public var count: Int
    /// The time in which half of them ended.
    public var p50: UInt64
    /// The time in which nine of ten ended.
    public var p90: UInt64
    /// The time in which 99 of 100 ended.
    public var p99: UInt64
    /// The time in which 999 of 1,000 ended.
    public var p999: UInt64
    /// The time of the longest.
    public var max: UInt64
    /// The distribution's curve, from the least share on: shares of all operations, each with the time in which they end.
    public var curve: [Point]

    /// A point of the curve.
    public struct Point: Sendable, Hashable, Codable {
        /// A share of all operations, from 0 to 1.
        public var share: Double
        /// The time in which they end.
        public var nanoseconds: UInt64
    }
}
