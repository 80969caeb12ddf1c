internal import TidelineSupport

/// A table of checks by stores, group by group. A check expands to its explanation and findings.
struct HTMLMatrix {
    let report: ConformanceReport

    var html: String {
        "<h2 id=\"checks\">Checks</h2>\n\(legend)\n" + report.groups.map(section).joined(separator: "\n")
    }

    private var legend: String {
        let used = CheckStatus.allCases.filter { status in report.stores.contains { $0.totals[status] > 0 } }
        let items = used.map { status in
            "<li><span class=\"status \(status.rawValue)\"><span aria-hidden=\"true\">\(Words.sign(status))</span> "
                + "\(Words.title(status))</span>: \(Words.meaning(status))</li>"
        }
        return "<ul class=\"legend\">\(items.joined())</ul>"
    }

    private func section(_ group: CheckGroup) -> String {
        let table = HTMLFrame.table(
            caption: group.title, heading: ["Check"] + report.stores.map(\.name),
            rows: report.checks(of: group).map(rows), className: "matrix")
        return
            "<section class=\"group\" data-group=\"\(group.rawValue)\">\n<h3>\(group.title)</h3>\n\(table)\n</section>"
    }

    /// Returns the row of a check and the row beneath it, which is shown when the check is expanded.
    private func rows(_ check: CheckSummary) -> String {
        let id = Escape.markup(check.id)
        let results = report.stores.map { ($0, $0.result(of: check)) }
        let cells = results.map { "<td>\($1.map { HTML.status($0.status) } ?? "")</td>" }
        let statuses = results.compactMap { $1?.status.rawValue }.uniqued().joined(separator: " ")
        return """
            <tr class="check" id="\(id)" data-status="\(statuses)">\
            <th scope="row"><details><summary aria-controls="\(id)-more"><code>\(id)</code> \
            <span class="promise">\(Escape.markup(check.promise))</span></summary></details></th>\(cells.joined())</tr>
            <tr class="more" id="\(id)-more"><td colspan="\(report.stores.count + 1)">\(more(check, results))</td></tr>
            """
    }

    private func more(_ check: CheckSummary, _ results: [(StoreReport, CheckResult?)]) -> String {
        var parts = check.explanation.isEmpty ? [] : ["<p>\(Escape.markupLines(check.explanation))</p>"]
        let needs = check.needs.map(Words.title).joined(separator: ", ")
        parts.append("<p class=\"kind\">\(Words.title(check.tier))\(needs.isEmpty ? "" : "; needs: \(needs)")</p>")
        parts += results.compactMap { store, result in result.map { finding($0, of: store) } }
        return parts.joined(separator: "\n")
    }

    private func finding(_ result: CheckResult, of store: StoreReport) -> String {
        let name = Escape.markup(store.name)
        let seconds = result.seconds > 0 ? " <small>\(Words.seconds(result.seconds))</small>" : ""
        var parts = ["<h4>\(name) \(HTML.status(result.status))\(seconds)</h4>"]
        if let reason = result.reason { parts.append("<p>\(Escape.markup(reason))</p>") }
        if let failure = result.failure {
            let options = Words.options(result, store: store.name, report)
            parts.append("<pre>\(Escape.markupLines(failure.message))</pre>")
            parts.append("<p>Repeat it with <code>\(Escape.markup(options))</code></p>")
            if let script = failure.script {
                parts.append("<details><summary>Script</summary><pre>\(Escape.markupLines(script))</pre></details>")
            }
        }
        return parts.joined(separator: "\n")
    }
}

/// The form that filters the checks; shown only if scripts run.
struct HTMLFilter {
    let report: ConformanceReport

    var html: String {
        let groups = report.groups.map { "<option value=\"\($0.rawValue)\">\($0.title)</option>" }
        let used = CheckStatus.allCases.filter { status in report.stores.contains { $0.totals[status] > 0 } }
        let statuses = used.map { "<option value=\"\($0.rawValue)\">\(Words.title($0))</option>" }
        return """
            <form id="filter" hidden aria-label="Filter the checks">
            <label>Text <input type="search" name="text" placeholder="id, promise, message"></label>
            <label>Group <select name="group"><option value="">all</option>\(groups.joined())</select></label>
            <label>Status <select name="status"><option value="">all</option>\
            <option value="differs">differs between stores</option>\(statuses.joined())</select></label>
            <output name="count" aria-live="polite"></output>
            </form>
            """
    }
}
