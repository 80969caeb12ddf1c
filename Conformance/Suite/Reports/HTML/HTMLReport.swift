internal import TidelineSupport

/// A report as one self-contained HTML page. It compares the stores side by side, can be filtered if scripts run, is
/// complete without scripts, and is readable on a phone.
package struct HTMLReport: ReportWriter {
    /// Creates a writer.
    package init() {}

    package func text(of report: ConformanceReport) -> String {
        let names = report.stores.map(\.name).joined(separator: ", ")
        let page = [
            HTMLPage.head(title: "Conformance of \(names)"), header(report, names: names), "<main>",
            HTMLOverview(report: report).html, HTMLFailures(report: report).html,
            HTMLCapabilities(stores: report.stores).html,
            HTMLFilter(report: report).html,
            HTMLMatrix(report: report).html, HTMLOmissions(report: report).html, "</main>", footer(report),
            HTMLPage.end,
        ]
        return page.joined(separator: "\n") + "\n"
    }

    private func header(_ report: ConformanceReport, names: String) -> String {
        let failures = report.stores.reduce(0) { $0 + $1.results.count { $0.status.isFailure } }
        let verdict =
            !report.isComplete
            ? "The run did not complete."
            : failures > 0 ? "\(Words.counted(failures, "failure"))." : "No failures."
        return """
            <header>
            <h1>Conformance of \(Escape.markup(names))</h1>
            <p class="\(failures > 0 || !report.isComplete ? "bad" : "good")">\(verdict)</p>
            <p>\(Words.counted(report.checks.count, "check")) over \(Words.counted(report.stores.count, "store")). \
            The promises of a store and the results.</p>
            </header>
            """
    }

    private func footer(_ report: ConformanceReport) -> String {
        "<footer>\n<h2>The run</h2>\n\(HTMLFrame.list(Words.run(report)))\n</footer>"
    }
}

/// HTML fragments shared by the parts of the page.
enum HTML {
    /// Returns a status: a sign with a distinct shape and a word that narrow cells show only to screen readers.
    static func status(_ status: CheckStatus) -> String {
        """
        <span class="status \(status.rawValue)"><span aria-hidden="true">\(Words.sign(status))</span> \
        <span class="words">\(Words.title(status))</span></span>
        """
    }
}

/// The summary at the top of the page: the profiles that each store reached and the number of checks by result.
struct HTMLOverview {
    let report: ConformanceReport

    var html: String {
        let rows = Profile.allCases.map(verdicts) + CheckStatus.allCases.filter(occurs).map(totals) + [time]
        return "<section>\n<h2>Profiles</h2>\n"
            + HTMLFrame.table(
                caption: "Profiles that each store reaches, and the results of its checks",
                heading: [""] + report.stores.map(\.name), rows: rows, className: "overview")
            + "\n</section>"
    }

    private func verdicts(_ profile: Profile) -> String {
        let cells = report.stores.map { store in
            guard let verdict = store.profiles.first(where: { $0.profile == profile }) else { return "<td></td>" }
            let sign =
                switch verdict.outcome {
                case .reached: "✓"
                case .open: "○"
                case .missed: "✗"
                }
            return """
                <td><span class="verdict \(verdict.outcome.rawValue)"><span aria-hidden="true">\(sign)</span> \
                \(verdict.words)</span></td>
                """
        }
        return "<tr class=\"profile\"><th scope=\"row\">\(profile.title)</th>\(cells.joined())</tr>"
    }

    private func occurs(_ status: CheckStatus) -> Bool {
        [.passed, .failed].contains(status) || report.stores.contains { $0.totals[status] > 0 }
    }

    private func totals(_ status: CheckStatus) -> String {
        let cells = report.stores.map { "<td>\($0.totals[status])</td>" }.joined()
        return "<tr class=\"number\"><th scope=\"row\">\(Words.title(status))</th>\(cells)</tr>"
    }

    private var time: String {
        let cells = report.stores.map { "<td>\(Words.seconds($0.seconds))</td>" }.joined()
        return "<tr class=\"number\"><th scope=\"row\">time</th>\(cells)</tr>"
    }
}
