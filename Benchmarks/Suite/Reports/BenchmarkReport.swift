public import TidelineStore
public import TidelineSupport

/// The results of a run, from which all reports and comparisons are made.
public struct BenchmarkReport: Sendable, Hashable, Codable {
    /// The version of the JSON format, which changes when old readers would misread new reports.
    public var schema = Self.currentSchema
    /// The machine, the build and the date.
    public var environment: BenchmarkEnvironment
    /// The settings.
    public var settings: BenchmarkSettings
    /// The subjects.
    public var subjects: [SubjectDescription]
    /// The results, ordered by workload and then by number of rows.
    public var results: [WorkloadResult]
    /// The sizes of the databases after all workloads.
    public var sizes: [DatabaseSize] = []
    /// Whether the run was interrupted, so that some results are missing.
    public var isInterrupted = false
    /// The error that stopped the run early, such as a full disk; `nil` if there was none.
    public var stopReason: String?

    /// The format that this version writes.
    public static let currentSchema = "tideline-bench/1"
}

/// The machine, the build and the date of a run.
public struct BenchmarkEnvironment: Sendable, Hashable, Codable {
    /// The system, the kernel, the compiler and the date.
    public var host: ReportEnvironment
    /// The name of the processor.
    public var processor: String
    /// The size of the memory in bytes.
    public var memory: Int
    /// The file system of the databases, such as `ext4`.
    public var fileSystem: String
    /// The commit of the build, followed by `+` if files were changed; `nil` if unknown.
    public var commit: String?
    /// The average number of processors that other programs used; `nil` if the system does not report it.
    public var otherProcessors: Double?
}

/// The part of a subject that reports show.
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

/// The result of a workload with one number of rows.
public struct WorkloadResult: Sendable, Hashable, Codable {
    /// ``Workload/id``.
    public var id: String
    /// ``Workload/group``.
    public var group: WorkloadGroup
    /// ``Workload/title``.
    public var title: String
    /// ``Workload/explanation``.
    public var explanation: String
    /// The unit, such as `row`.
    public var unit: String
    /// The number of units in an iteration.
    public var units: Int
    /// The number of rows in the table.
    public var rows: Int
    /// The results of the subjects.
    public var subjects: [SubjectResult]
}

/// The result of a subject in a workload.
public struct SubjectResult: Sendable, Hashable, Codable {
    /// The name of the subject.
    public var subject: String
    /// The iterations in order. The iterations of all subjects with the same index ran in the same round.
    public var samples: [Sample]
    /// The latencies of all iterations; `nil` if none was recorded.
    public var latency: LatencySummary?
    /// The reason why there are no figures, or `nil`.
    public var failure: Failure?

    /// The reason why there are no figures.
    public struct Failure: Sendable, Hashable, Codable {
        /// The kinds of reasons.
        public enum Kind: String, Sendable, Codable {
            /// The subject does not support the work.
            case notApplicable
            /// The work threw an error.
            case failed
            /// The answer is wrong or differs from the others.
            case wrongAnswer
        }
        /// The kind of reason.
        public var kind: Kind
        /// A description, such as an error message.
        public var reason: String
    }
}

/// The size of a database with all rows, after the last workload that uses it.
public struct DatabaseSize: Sendable, Hashable, Codable {
    /// The name of the subject.
    public var subject: String
    /// The number of rows in the table.
    public var rows: Int
    /// Whether the table has the index; see ``BenchmarkTable/isIndexed``.
    public var isIndexed: Bool
    /// The size of the closed database in bytes.
    public var bytes: Int
    /// The size after compaction; `nil` if the subject has none.
    public var compactedBytes: Int?
}

/// The measurements of an iteration.
public struct Sample: Sendable, Hashable, Codable {
    /// The elapsed time in seconds.
    public var seconds: Double
    /// The processor time, user and system, in seconds.
    public var cpuSeconds: Double
    /// The peak growth of the process's memory in bytes, including touched pages of mapped files.
    public var peakMemory: Int?
    /// The number of bytes passed to write calls.
    public var bytesWritten: Int?
    /// The size of the files afterwards, in bytes.
    public var fileSize: Int?
}

/// A distribution of latencies in nanoseconds.
public struct LatencySummary: Sendable, Hashable, Codable {
    /// The number of operations.
    public var count: Int
    /// The median.
    public var p50: UInt64
    /// The 90th percentile.
    public var p90: UInt64
    /// The 99th percentile.
    public var p99: UInt64
    /// The 99.9th percentile.
    public var p999: UInt64
    /// The maximum.
    public var max: UInt64
    /// The points of the distribution, by ascending share.
    public var curve: [Point]

    /// A point of the distribution.
    public struct Point: Sendable, Hashable, Codable {
        /// A share of the operations, from 0 to 1.
        public var share: Double
        /// The latency within which this share completes.
        public var nanoseconds: UInt64
    }
}
