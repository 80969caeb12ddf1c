/// A form of the benchmark's report.
public protocol BenchmarkReportWriter: Sendable {
    /// The report as text, which ends with a line's end.
    func text(of report: BenchmarkReport) throws -> String
}
