#if Commands
internal import TidelineStore

/// The iterations as CSV (RFC 4180), one line each, for spreadsheets.
///
/// A subject without figures has one line with the reason. Numbers have a decimal point and no separators.
struct BenchmarkCSVReport: BenchmarkReportWriter {
    func text(of report: BenchmarkReport) -> String {
        let lines = report.figures.flatMap { workload in
            workload.subjects.flatMap { figures in repetitions(workload.result, figures) }
        }
        return ([Self.heading] + lines).map { $0.map(Self.field).joined(separator: ",") + "\r\n" }.joined()
    }

    private static let heading = [
        "workload", "group", "title", "rows", "store", "kind", "engine", "durability", "repetition", "unit", "units",
        "seconds", "seconds_per_unit", "units_per_second", "cpu_seconds", "ratio_to_c", "peak_memory_bytes",
        "bytes_written", "file_bytes", "latency_p50_ns", "latency_p90_ns", "latency_p99_ns", "latency_p999_ns",
        "latency_max_ns", "failure",
    ]

    private func repetitions(_ workload: WorkloadResult, _ figures: SubjectFigures) -> [[String]] {
        let subject = figures.subject
        let prefix = [
            workload.id, workload.group.rawValue, workload.title, "\(workload.rows)", subject.name,
            subject.kind.rawValue, subject.engine, subject.durability.rawValue,
        ]
        let unit = [workload.unit, "\(workload.units)"]
        let samples = figures.result.failure == nil ? figures.result.samples : []
        let rest = latencies(figures.result.latency) + [failure(figures.result)]
        guard !samples.isEmpty else {
            return [prefix + [""] + unit + Array(repeating: "", count: 8) + rest]
        }
        // Rounds without time have no ratio; without them the indexes match.
        let ratios = figures.ratios.count == samples.count ? figures.ratios : []
        return samples.enumerated().map { index, sample in
            let ratio = ratios.indices.contains(index) ? "\(ratios[index])" : ""
            return prefix + ["\(index + 1)"] + unit + numbers(sample, units: workload.units, ratio: ratio) + rest
        }
    }

    private func numbers(_ sample: Sample, units: Int, ratio: String) -> [String] {
        let isTimed = sample.seconds > 0 && units > 0
        return [
            "\(sample.seconds)", isTimed ? "\(sample.seconds / Double(units))" : "",
            isTimed ? "\(Double(units) / sample.seconds)" : "", "\(sample.cpuSeconds)", ratio,
        ] + [sample.peakMemory, sample.bytesWritten, sample.fileSize].map { $0.map(String.init) ?? "" }
    }

    private func latencies(_ latency: LatencySummary?) -> [String] {
        guard let latency else { return Array(repeating: "", count: 5) }
        return [latency.p50, latency.p90, latency.p99, latency.p999, latency.max].map(String.init)
    }

    private func failure(_ result: SubjectResult) -> String {
        result.failure.map { "\($0.kind.title): \($0.reason)" } ?? ""
    }

    /// A field, quoted if needed. A text that a spreadsheet would evaluate as a formula gets an apostrophe before it.
    private static func field(_ text: String) -> String {
        let isFormula = text.first.map { "=+-@\t\r".contains($0) } ?? false
        let safe = isFormula && Double(text) == nil ? "'" + text : text
        guard safe.unicodeScalars.contains(where: { "\",\r\n".unicodeScalars.contains($0) }) else { return safe }
        return "\"" + safe.replacing("\"", with: "\"\"") + "\""
    }
}
#endif
