internal import Foundation
internal import TidelineSupport

/// A report as JUnit XML for continuous integration: a test suite for each store, a test case for each check.
///
/// A failure or an unexpected pass is a failure, and an error of the suite itself is an error. Checks that are skipped,
/// not run, tolerated, or known to fail are skipped, with the reason.
package struct JUnitReport: Sendable {
    package init() {}

    package func text(of report: ConformanceReport) -> String {
        let totals = StatusTotals(report.stores.flatMap(\.results))
        let seconds = report.stores.reduce(0) { $0 + $1.seconds }
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        lines.append("<testsuites name=\"tideline-conformance\"\(Self.counts(totals, seconds: seconds))>")
        for store in report.stores { lines += suite(store, report) }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n") + "\n"
    }

    private func suite(_ store: StoreReport, _ report: ConformanceReport) -> [String] {
        let counts = Self.counts(store.totals, seconds: store.seconds)
        let date = Self.attribute("timestamp", report.environment.date)
        var lines = ["  <testsuite\(Self.attribute("name", store.name))\(counts)\(date)>", "    <properties>"]
        for (name, value) in Words.run(report) {
            lines.append("      <property\(Self.attribute("name", name))\(Self.attribute("value", value))/>")
        }
        lines.append("    </properties>")
        for result in store.results { lines += testCase(result, store, report) }
        return lines + ["  </testsuite>"]
    }

    private func testCase(_ result: CheckResult, _ store: StoreReport, _ report: ConformanceReport) -> [String] {
        let check = report.check(result.id)
        let name = Self.attribute("name", "\(result.id) \(check?.promise ?? "")")
        let group = check.map { ".\($0.group)" } ?? ""
        let start =
            "    <testcase\(name)\(Self.attribute("classname", store.name + group))"
            + "\(Self.attribute("time", Self.seconds(result.seconds)))"
        guard let outcome = outcome(result) else { return [start + "/>"] }
        return [start + ">", "      \(outcome)", "    </testcase>"]
    }

    private func outcome(_ result: CheckResult) -> String? {
        let reason = result.reason ?? ""
        switch result.status {
        case .passed: return nil
        case .failed: return Self.element("failure", result)
        case .harnessError: return Self.element("error", result)
        case .unexpectedPass:
            let message = "The promise holds but is listed as a known failure: \(reason)"
            return "<failure\(Self.attribute("type", "unexpectedPass"))\(Self.attribute("message", message))/>"
        case .skipped, .notRun, .knownFailure, .tolerated:
            return "<skipped\(Self.attribute("message", "\(result.status.title): \(reason)"))/>"
        }
    }

    /// Returns an element with the finding, whose first line is the message.
    private static func element(_ name: String, _ result: CheckResult) -> String {
        let failure = result.failure
        let message = failure?.message ?? ""
        let parts = [message, failure.map { "seed \($0.seed)" }, failure?.script].compactMap { $0 }
        let firstLine = String(message.prefix { !$0.isNewline })
        return "<\(name)\(attribute("type", result.status.rawValue))\(attribute("message", firstLine))>"
            + Escape.markupLines(parts.joined(separator: "\n\n")) + "</\(name)>"
    }

    private static func counts(_ totals: StatusTotals, seconds: Double) -> String {
        let skipped = totals.skipped + totals.notRun + totals.knownFailure + totals.tolerated
        return attribute("tests", "\(totals.all)")
            + attribute("failures", "\(totals.failed + totals.unexpectedPass)")
            + attribute("errors", "\(totals.harnessError)") + attribute("skipped", "\(skipped)")
            + attribute("time", Self.seconds(seconds))
    }

    private static func seconds(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

    private static func attribute(_ name: String, _ value: String) -> String { " \(name)=\"\(Escape.markup(value))\"" }
}
