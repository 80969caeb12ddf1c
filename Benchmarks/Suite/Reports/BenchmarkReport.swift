#if Commands
package import TidelineStore
package import TidelineSupport

/// The results of a run, from which all reports and comparisons are made.
package struct BenchmarkReport: Sendable, Hashable, Codable {
    /// The version of the JSON format, which changes when old readers would misread new reports.
    package var schema = Self.currentSchema
    /// The machine, the build and the date.
    package var environment: BenchmarkEnvironment
    /// The settings.
    package var settings: BenchmarkSettings
    /// The subjects.
    package var subjects: [SubjectDescription]
    /// The results, ordered by workload and then by number of rows.
    package var results: [WorkloadResult]
    /// The sizes of the databases after all workloads.
    package var sizes: [DatabaseSize] = []
    /// Whether the run was interrupted, so that some results are missing.
    package var isInterrupted = false
    /// The error that stopped the run early, such as a full disk; `nil` if there was none.
    package var stopReason: String?

    /// The format that this version writes.
    package static let currentSchema = "tideline-bench/1"
}

/// The machine, the build and the date of a run.
package struct BenchmarkEnvironment: Sendable, Hashable, Codable {
    /// The system, the kernel, the compiler and the date.
    package var host: ReportEnvironment
    /// The name of the processor.
    package var processor: String
    /// The size of the memory in bytes.
    package var memory: Int
    /// The file system of the databases, such as `ext4`.
    package var fileSystem: String
    /// The commit of the build, followed by `+` if files were changed; `nil` if unknown.
    package var commit: String?
    /// The average number of processors that other programs used; `nil` if the system does not report it.
    package var otherProcessors: Double?
}

/// The part of a subject that reports show.
package struct SubjectDescription: Sendable, Hashable, Codable {
    /// ``BenchmarkSubject/name``.
    package var name: String
    /// ``BenchmarkSubject/kind``.
    package var kind: BenchmarkSubject.Kind
    /// ``BenchmarkSubject/engine``.
    package var engine: String
    /// ``BenchmarkSubject/engineVersion``.
    package var engineVersion: String?
    /// ``BenchmarkSubject/settings``.
    package var settings: [String]
    /// ``BenchmarkSubject/durability``.
    package var durability: StoreCapabilities.Durability
}

/// The result of a workload with one number of rows.
package struct WorkloadResult: Sendable, Hashable, Codable {
    /// ``Workload/id``.
    package var id: String
    /// ``Workload/group``.
    package var group: WorkloadGroup
    /// ``Workload/title``.
    package var title: String
    /// ``Workload/explanation``.
    package var explanation: String
    /// The unit, such as `row`.
    package var unit: String
    /// The number of units in an iteration.
    package var units: Int
    /// The number of rows in the table.
    package var rows: Int
    /// The results of the subjects.
    package var subjects: [SubjectResult]
}

/// The result of a subject in a workload.
package struct SubjectResult: Sendable, Hashable, Codable {
    /// The name of the subject.
    package var subject: String
    /// The iterations in order. The iterations of all subjects with the same index ran in the same round.
    package var samples: [Sample]
    /// The latencies of all iterations; `nil` if none was recorded.
    package var latency: LatencySummary?
    /// The reason why there are no figures, or `nil`.
    package var failure: Failure?

    /// The reason why there are no figures.
    package struct Failure: Sendable, Hashable, Codable {
        /// The kinds of reasons.
        package enum Kind: String, Sendable, Codable {
            /// The subject does not support the work.
            case notApplicable
            /// The work threw an error.
            case failed
            /// The answer is wrong or differs from the others.
            case wrongAnswer
        }
        /// The kind of reason.
        package var kind: Kind
        /// A description, such as an error message.
        package var reason: String
    }
}

/// The size of a database with all rows, after the last workload that uses it.
package struct DatabaseSize: Sendable, Hashable, Codable {
    /// The name of the subject.
    package var subject: String
    /// The number of rows in the table.
    package var rows: Int
    /// Whether the table has the index; see ``BenchmarkTable/isIndexed``.
    package var isIndexed: Bool
    /// The size of the closed database in bytes.
    package var bytes: Int
    /// The size after compaction; `nil` if the subject has none.
    package var compactedBytes: Int?
}

/// The measurements of an iteration.
package struct Sample: Sendable, Hashable, Codable {
    /// The elapsed time in seconds.
    package var seconds: Double
    /// The processor time, user and system, in seconds.
    package var cpuSeconds: Double
    /// The peak growth of the process's memory in bytes, including touched pages of mapped files.
    package var peakMemory: Int?
    /// The number of bytes passed to write calls.
    package var bytesWritten: Int?
    /// The size of the files afterwards, in bytes.
    package var fileSize: Int?
}

/// A distribution of latencies in nanoseconds.
package struct LatencySummary: Sendable, Hashable, Codable {
    /// The number of operations.
    package var count: Int
    /// The median.
    package var p50: UInt64
    /// The 90th percentile.
    package var p90: UInt64
    /// The 99th percentile.
    package var p99: UInt64
    /// The 99.9th percentile.
    package var p999: UInt64
    /// The maximum.
    package var max: UInt64
    /// The points of the distribution, by ascending share.
    package var curve: [Point]

    /// A point of the distribution.
    package struct Point: Sendable, Hashable, Codable {
        /// A share of the operations, from 0 to 1.
        package var share: Double
        /// The latency within which this share completes.
        package var nanoseconds: UInt64
    }
}
#endif
