import TidelineStore

@testable import TidelineBenchmark

extension SampleReport {
    /// A report all of whose texts try to be more than text.
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
