internal import TidelineSupport

/// The figures of one number of rows: a table for each group, and the charts of its workloads.
struct HTMLSection {
    let section: FigureSection
    let palette: HTMLPalette

    var html: String {
        "<section>\n<h2>\(section.title)</h2>\n" + section.groups.map(group).joined(separator: "\n") + "\n</section>"
    }

    private func group(_ group: WorkloadGroup, _ workloads: [WorkloadFigures]) -> String {
        let table = HTMLFrame.table(
            caption: "\(group.title), \(FigureFormat.count(section.rows)) rows",
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
        let text = FigureFormat.time(time)
        let ratio = figures.ratio.map { "<br><small>\(FigureFormat.speed($0))</small>" } ?? ""
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

/// The cost of a unit by number of rows; empty for a single number.
struct HTMLGrowth {
    let report: BenchmarkReport
    let palette: HTMLPalette

    var html: String {
        let figures = report.figures.filter { $0.result.group != .json }
        let cards = figures.map(\.result.id).uniqued().compactMap { id in card(figures.filter { $0.result.id == id }) }
        guard !cards.isEmpty else { return "" }
        return """
            <section>
            <h2>Cost by number of rows</h2>
            <div class="cards">
            \(cards.joined(separator: "\n"))
            </div>
            </section>
            """
    }

    private func card(_ unsorted: [WorkloadFigures]) -> String? {
        let figures = unsorted.sorted { $0.result.rows < $1.result.rows }
        guard figures.count > 1, let title = figures.first?.result.title else { return nil }
        let series = report.subjects.filter { $0.kind != .baseline }.map { subject in
            LineChart.Series(
                subject: subject,
                points: figures.compactMap { workload in
                    workload.subject(subject.name)?.unitTime.map { (Double(workload.result.rows), $0.median) }
                })
        }.filter { !$0.points.isEmpty }
        guard !series.isEmpty else { return nil }
        let marks = figures.map { (value: Double($0.result.rows), label: FigureFormat.count($0.result.rows)) }
        let chart = LineChart(
            label: "Time of a unit by number of rows, \(title), as in the table below", series: series,
            marks: marks, hasPoints: true, palette: palette)
        return """
            <article class="work">
            <h4>\(Escape.markup(title))</h4>
            \(chart.html)
            \(palette.key(series.map(\.subject)))
            \(table(figures, series.map(\.subject), title))
            </article>
            """
    }

    private func table(_ figures: [WorkloadFigures], _ subjects: [SubjectDescription], _ title: String) -> String {
        let rows = subjects.map { subject in
            let cells = figures.map { workload in
                "<td>\(workload.subject(subject.name)?.unitTime.map { FigureFormat.time($0.median) } ?? "–")</td>"
            }
            return "<tr><th scope=\"row\">\(Escape.markup(subject.name))</th>\(cells.joined())</tr>"
        }
        return HTMLFrame.table(
            caption: "Time of a unit by number of rows, \(title)",
            heading: [""] + figures.map { FigureFormat.count($0.result.rows) }, rows: rows, className: "figures small"
        )
    }
}

extension BenchmarkComparison {
    /// Returns the comparison as a page.
    package func htmlText() -> String {
        [
            HTMLFrame.head(title: "Benchmark, compared", style: HTMLStyle.text, hasScript: false), "<main>",
            htmlSection, "</main>", HTMLFrame.end,
        ].joined(separator: "\n") + "\n"
    }

    /// The comparison as a section of a page.
    var htmlSection: String {
        let rows = entries.map { entry in
            let cells = entry.cells.dropFirst(2).enumerated().map { index, text in
                let isVerdict = index == 5
                return "<td\(isVerdict ? " class=\"\(entry.look)\"" : "")>\(Escape.markup(text))</td>"
            }
            let title = "\(Escape.markup(entry.title)) <small>\(FigureFormat.count(entry.rows)) rows</small>"
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
