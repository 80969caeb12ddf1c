internal import TidelineSupport

extension BenchmarkComparison {
    /// The comparison as a page of its own.
    public func htmlText() -> String {
        [
            HTMLFrame.head(title: "Benchmark, compared", style: HTMLStyle.text, hasScript: false), "<main>",
            htmlSection, "</main>", HTMLFrame.end,
        ].joined(separator: "\n") + "\n"
    }

    /// The comparison as a part of a page.
    var htmlSection: String {
        let rows = entries.map { entry in
            let cells = entry.cells.dropFirst(2).enumerated().map { index, text in
                let isVerdict = index == 5
                return "<td\(isVerdict ? " class=\"\(entry.look)\"" : "")>\(Escape.markup(text))</td>"
            }
            let title = "\(Escape.markup(entry.title)) <small>\(BenchmarkWords.count(entry.rows)) rows</small>"
            return "<tr><th scope=\"row\">\(title)</th>\(cells.joined())</tr>"
        }
        let table = HTMLFrame.table(
            caption: "Comparison", heading: Array(Self.heading.dropFirst()), rows: rows, className: "figures")
        return """
            <section>
            <h2>Compared with the old results</h2>
            \(warnings.map { "<p class=\"warning\">\(Escape.markup($0))</p>" }.joined(separator: "\n"))
            <p class="\(hasRegression ? "bad" : "good")">\(Escape.markup(summary.joined(separator: " ")))</p>
            <p>\(Escape.markup(Self.explanation))</p>
            \(entries.isEmpty ? "" : table)
            </section>
            """
    }
}

extension BenchmarkComparison.Entry {
    fileprivate var look: String { isRegression ? "bad" : verdict == .faster ? "good" : "faint" }
}
