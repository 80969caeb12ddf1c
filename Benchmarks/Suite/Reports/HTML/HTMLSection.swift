internal import TidelineSupport

/// The figures of one number of rows: for each group a table, and beneath it the charts of its workloads.
struct HTMLSection {
    let section: FigureSection
    let palette: HTMLPalette

    var html: String {
        let title = section.isJSON ? "JSON" : "\(BenchmarkWords.count(section.rows)) rows"
        return "<section>\n<h2>\(title)</h2>\n" + section.groups.map(group).joined(separator: "\n") + "\n</section>"
    }

    private func group(_ group: WorkloadGroup, _ workloads: [WorkloadFigures]) -> String {
        let table = HTMLFrame.table(
            caption: "\(group.title), \(BenchmarkWords.count(section.rows)) rows",
            heading: ["Time for one unit"] + section.columns.map(\.name), rows: workloads.map(row),
            className: "figures")
        let cards = workloads.map { card($0) }.joined(separator: "\n")
        let heading = section.isJSON ? "" : "<h3>\(group.title)</h3>\n"
        return "\(heading)\(table)\n<div class=\"cards\">\n\(cards)\n</div>"
    }

    private func row(_ workload: WorkloadFigures) -> String {
        let cells = section.columns.map { column in
            workload.subject(column.name).map { "<td>\(cell($0))</td>" } ?? "<td></td>"
        }
        let title = Escape.markup(workload.result.title)
        let unit = Escape.markup(workload.result.unit)
        return "<tr><th scope=\"row\">\(title) <small>per \(unit)</small></th>\(cells.joined())</tr>"
    }

    private func cell(_ figures: SubjectFigures) -> String {
        if let failure = figures.result.failure {
            let look = failure.kind == .notApplicable ? "faint" : "bad"
            return "<span class=\"\(look)\" title=\"\(Escape.markup(failure.reason))\">\(failure.kind.sign)</span>"
        }
        guard let time = figures.unitTime?.median else { return "" }
        let text = BenchmarkWords.time(time)
        let ratio = figures.ratio.map { "<br><small>\(BenchmarkWords.speed($0))</small>" } ?? ""
        return (figures.isFastest ? "<strong>\(text)</strong>" : text) + ratio
    }

    // MARK: Charts

    private func card(_ workload: WorkloadFigures) -> String {
        let chart = BarChart(workload: workload, columns: section.columns, palette: palette)
        let latency = LatencyChart(workload: workload, columns: section.columns, palette: palette)
        return """
            <article class="work">
            <h4>\(Escape.markup(workload.result.title))</h4>
            <p class="kind">\(Escape.markup(workload.result.explanation))</p>
            \(chart.html)
            \(latency.html)
            </article>
            """
    }
}
