#if Commands
import TidelineStore
import TidelineSupport

@testable import TidelineBenchmark

/// Sample reports: a large one like that of a real run, and small ones for single tests.
enum SampleReport {
    /// Markup, quotes, pipes, line breaks, control characters, a change of direction, and commas.
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

    /// A result with the given times in seconds.
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
            id: id, group: group, title: title ?? "the work \(id)", explanation: "The explanation of \(id).",
            unit: unit, units: units, rows: rows, subjects: subjects)
    }

    static func report(
        _ subjects: [SubjectDescription], _ results: [WorkloadResult], settings: BenchmarkSettings? = nil
    ) -> BenchmarkReport {
        BenchmarkReport(
            environment: environment, settings: settings ?? BenchmarkSettings(rows: [1000]), subjects: subjects,
            results: results)
    }
}

extension SampleReport {
    /// A report whose texts contain markup and control characters.
    static var hostile: BenchmarkReport {
        let name = "store \(nasty)"
        var subject = subject(name, engine: nasty)
        subject.engineVersion = nasty
        subject.settings = [nasty]
        let failed = SubjectResult(subject: name, samples: [], failure: .init(kind: .failed, reason: nasty))
        var report = report(
            [subject, self.subject("other", engine: "e"), self.subject("C \(nasty)", .baseline, engine: nasty)],
            [
                workload("id-\(nasty)", title: "Title \(nasty)", unit: "unit \(nasty)", [failed]),
                workload("w", [result(name, [2, 3]), result("other", [4, 5]), result("C \(nasty)", [2, 2])]),
            ])
        report.results[1].subjects[0].latency = LatencySummary(
            count: 1, p50: 1, p90: 2, p99: 3, p999: 4, max: 5, curve: [.init(share: 0.5, nanoseconds: 1)])
        report.environment.processor = nasty
        report.environment.fileSystem = nasty
        report.environment.commit = nasty
        return report
    }
}

extension SampleReport {
    private static let stores = [
        subject("sqlite", engine: "sqlite"), subject("lmdb", engine: "lmdb"), subject("leveldb", engine: "leveldb"),
        subject("memory", engine: "memory", .none),
    ]
    private static let baselines = ["sqlite", "lmdb", "leveldb"].map {
        subject("\($0) in C", .baseline, engine: $0)
    }
    /// The relative speed of each subject.
    private static let speeds = [1, 2.6, 1.4, 3.8, 1.03, 2.7, 1.5]

    /// Group, id, title, unit, units for 100,000 rows, and the slowest subject's seconds for a unit.
    private static let workloads: [(WorkloadGroup, String, String, String, Int, Double)] = [
        (.writing, "upsert-packed-1000", "bulk upsert, packed rows, 1000 a transaction", "row", 100_000, 4.2e-6),
        (.writing, "upsert-packed-all", "bulk upsert, packed rows, one transaction", "row", 100_000, 3.1e-6),
        (.writing, "upsert-rows-1000", "bulk upsert, Row values, 1000 a transaction", "row", 100_000, 6e-6),
        (.writing, "reupsert", "upsert of rows that exist", "row", 100_000, 5.1e-6),
        (.writing, "commit", "commit of one row", "commit", 200, 5.3e-3),
        (.writing, "big-value", "upsert of a value of 1 MB", "value", 50, 3.2e-3),
        (.reading, "get-hit", "get, found, a transaction each", "read", 100_000, 5.1e-6),
        (.reading, "get-hit-one", "get, found, within a transaction", "read", 100_000, 2.3e-6),
        (.reading, "get-miss", "get, not found, within a transaction", "read", 100_000, 0.9e-6),
        (.reading, "get-typed", "get, typed columns", "read", 100_000, 3.3e-6),
        (.reading, "get-row", "get, values of Row by name", "read", 100_000, 3.9e-6),
        (.reading, "scan-view", "ordered scan, borrowed views", "row", 100_000, 0.45e-6),
        (.reading, "scan-typed", "ordered scan, typed columns", "row", 100_000, 0.7e-6),
        (.reading, "scan-row", "ordered scan, Row values", "row", 100_000, 1.6e-6),
        (.queries, "find-index", "filter, order, limit 50, with an index", "query", 1000, 110e-6),
        (.queries, "find-scan", "filter, order, limit 50, without an index", "query", 20, 31e-3),
        (.queries, "count-index", "count of a filter, with an index", "query", 1000, 9e-6),
        (.deleting, "delete-ids", "delete by ids, 1000 a transaction", "row", 100_000, 3.6e-6),
        (.deleting, "delete-query", "delete by a query", "row", 100_000, 4.4e-6),
        (.opening, "open", "open and read a row", "opening", 50, 0.8e-3),
        (.parallel, "readers-1", "1 reader", "read", 100_000, 2.4e-6),
        (.parallel, "readers-8", "8 readers", "read", 100_000, 1.9e-6),
        (.parallel, "readers-writer", "8 readers beside a writer", "read", 100_000, 2.8e-6),
        (.mixes, "ycsb-a-zipfian", "A: half reads, half updates; zipfian", "operation", 100_000, 14e-6),
        (.mixes, "ycsb-c-zipfian", "C: reads; zipfian", "operation", 100_000, 4e-6),
        (.mixes, "ycsb-e-uniform", "E: short scans; uniform", "operation", 10_000, 41e-6),
        (.sync, "pull-initial-1000", "initial pull, 1000 rows a page", "row", 100_000, 7.5e-6),
        (.sync, "push-10ms", "push at a round trip of 10 ms", "operation", 100, 11e-3),
        (.sync, "purge", "purge", "row", 100_000, 2.1e-6),
    ]

    /// A report of four stores and three baselines.
    static func large(rows: [Int]) -> BenchmarkReport {
        var report = report(
            stores + baselines + jsonReaders, rows.flatMap { results($0) },
            settings: BenchmarkSettings(rows: rows, repetitions: repetitions))
        report.sizes = rows.flatMap { rows in
            (stores + baselines).filter { $0.engine != "memory" }.map { subject in
                DatabaseSize(
                    subject: subject.name, rows: rows, isIndexed: false, bytes: rows * 210 + 4096,
                    compactedBytes: subject.engine == "leveldb" ? nil : rows * 180)
            }
        }
        let failure = SubjectResult.Failure(kind: .failed, reason: "mdb_put: MDB_MAP_FULL: Environment mapsize limit")
        report.results[4].subjects[1] = SubjectResult(subject: "lmdb", samples: [], failure: failure)
        let wrong = SubjectResult.Failure(kind: .wrongAnswer, reason: "999 rows found, 1,000 expected")
        report.results[14].subjects[2] = SubjectResult(subject: "leveldb", samples: [], failure: wrong)
        return report
    }

    private static let repetitions = 5
    private static let jsonReaders = [
        subject("Tideline packed", .store, engine: "json", .none),
        subject("JSONSerialization", .other, engine: "json", .none),
        subject("simdjson", .baseline, engine: "json", .none),
    ]

    private static func results(_ rows: Int) -> [WorkloadResult] {
        var random = SplitMix64(seed: UInt64(rows))
        return workloads.map { group, id, title, unit, units, seconds in
            workload(
                id, group: group, title: title, unit: unit, units: units, rows: rows,
                (stores + baselines).enumerated().map { index, subject in
                    guard subject.kind == .store || group != .sync else {
                        return unfit(subject.name, "bare engine: no sync")
                    }
                    guard subject.name != "memory" || group != .opening else {
                        return unfit(subject.name, "in memory only")
                    }
                    let growth = 1 + Double(rows) / 3_000_000
                    let taken = seconds * growth / speeds[index] * Double(units)
                    return made(subject.name, taken, group, rows, &random)
                })
        } + [
            workload(
                "json-packed", group: .json, title: "a page of JSON to packed rows", unit: "row", units: rows,
                rows: rows,
                zip(jsonReaders, [0.15e-6, 5e-6, 0.14e-6]).map { subject, seconds in
                    made(subject.name, seconds * Double(rows), .json, rows, &random)
                })
        ]
    }

    private static func unfit(_ subject: String, _ reason: String) -> SubjectResult {
        SubjectResult(subject: subject, samples: [], failure: .init(kind: .notApplicable, reason: reason))
    }

    private static func made(
        _ subject: String, _ seconds: Double, _ group: WorkloadGroup, _ rows: Int, _ random: inout SplitMix64
    ) -> SubjectResult {
        let speed = 0.9 + Double(random.next() % 200) / 1000
        let samples = (0..<repetitions).map { _ in
            let taken = seconds * speed * (1 + Double(random.next() % 80) / 1000)
            return Sample(
                seconds: taken, cpuSeconds: taken * 0.95, peakMemory: 20_000_000 + Int(random.next() % 9_000_000),
                bytesWritten: group == .writing ? rows * 260 : nil,
                fileSize: rows * 210 + Int(random.next() % 1_000_000))
        }
        let median = UInt64(seconds * 1e9 / Double(rows)) + 100
        return SubjectResult(
            subject: subject, samples: samples, latency: group == .json ? nil : latency(median: median))
    }

    private static func latency(median: UInt64) -> LatencySummary {
        let shares = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1]
        let times = [6, 7, 8, 10, 12, 16, 40, 130, 900, 4000].map { median * $0 / 10 }
        return LatencySummary(
            count: 10_000, p50: times[3], p90: times[5], p99: times[6], p999: times[7], max: times[9],
            curve: zip(shares, times).map { LatencySummary.Point(share: $0, nanoseconds: $1) })
    }
}
#endif
