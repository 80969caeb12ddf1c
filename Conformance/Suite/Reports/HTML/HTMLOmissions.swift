internal import TidelineSupport

/// The checks that did not run, with reasons.
struct HTMLOmissions {
    let report: ConformanceReport

    var html: String {
        let items = Omission.all(of: report).map(item)
        guard !items.isEmpty else { return "" }
        return "<section>\n<h2>Checks not run</h2>\n<ul>\n\(items.joined(separator: "\n"))\n</ul>\n</section>"
    }

    private func item(_ omission: Omission) -> String {
        let links = omission.ids.map { "<a href=\"#\(Escape.markup($0))\">\(Escape.markup($0))</a>" }
        return """
            <li><strong>\(Escape.markup(omission.stores.joined(separator: ", ")))</strong>, \
            \(Words.counted(omission.ids.count, "check")) \(Words.title(omission.status)): \
            \(Escape.markup(omission.reason))
            <details><summary>Checks</summary><p>\(links.joined(separator: ", "))</p></details></li>
            """
    }
}
