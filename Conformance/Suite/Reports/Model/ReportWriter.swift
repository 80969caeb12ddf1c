/// A form of report.
public protocol ReportWriter: Sendable {
    /// The report as text, which ends with a line's end.
    func text(of report: ConformanceReport) throws -> String
}
