/// A format of reports.
package protocol ReportWriter: Sendable {
    /// Returns the report as text that ends with a newline.
    func text(of report: ConformanceReport) throws -> String
}
