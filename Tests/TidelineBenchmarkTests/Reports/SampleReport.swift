import TidelineStore
import TidelineSupport

@testable import TidelineBenchmark

/// Made-up reports: a large one as of a real run, and small ones that a test shapes.
enum SampleReport {
    /// Markup, quotes, pipes, line ends, control characters, a turn of direction, commas.
    static let nasty =
        "<script>alert(1)</script>&amp; \"it's\" ]]> a|b, `c` *d*\nnext\r\u{0}\u{1B}[31m\u{7}\u{202E}\u{FFFE}é🙂"

    static let environment = BenchmarkEnvironment(
        host: ReportEnvironment(
            date: "2026-01-02T03:04:05Z", system: "An OS 12", kernel: "Linux 6.1 x86_64", processors: 2, swift: "6.3",
            build: "release"),
        processor: "A Processor @ 2.5 GHz", memory: 25_000_000_000, fileSystem: "ext4", commit: "0123abc")

    static func subject(
        _ name: String, _ kind: BenchmarkSubject.Kind = .store, engine: String,
        _ durability: StoreCapabilities.Durability = .normal
    ) -> SubjectDescription {
        SubjectDescription(
            name: name, kind: kind, engine: engine, engineVersion: "1.2", settings: [], durability: durability)
    }

    /// A result with these times in seconds.
    static func result(_ subject: String, _ seconds: [Double]) -> SubjectResult {
        SubjectResult(
            subject: subject,
            samples: seconds.map { Sample(seconds: $0, cpuSeconds: $0 * 0.9, peakMemory: 1_000_000) })
    }

    static func workload(
        _ id: String, group: WorkloadGroup = .writing, title: String? = nil, unit: String = "row", units: Int = 1000,
        rows: Int = 1000, _ subjects: [SubjectResult]
    ) -> WorkloadResult {
        WorkloadResult(
            id: id, group: group, title: title ?? "the work \(id)", explanation: "What \(id) does.", unit: unit,
            units: units, rows: rows, subjects: subjects)
    }

    static func report(
        _ subjects: [SubjectDescription], _ results: [WorkloadResult], settings: BenchmarkSettings? = nil
    ) -> BenchmarkReport {
        BenchmarkReport(
            environment: environment, settings: settings ?? BenchmarkSettings(rows: [1000]), subjects: subjects,
            results: results)
    }
}
