internal import TidelineSupport

/// What a unit costs over the number of rows; nothing for a run of a single number.
struct HTMLGrowth {
    let report: BenchmarkReport
    let palette: HTMLPalette

    var html: String {
        let figures = report.figures.filter { $0.result.group != .json }
        let cards = figures.map(\.result.id).uniqued().compactMap { id in card(figures.filter { $0.result.id == id }) }
        guard !cards.isEmpty else { return "" }
        return """
            <section>
            <h2>Cost over the number of rows</h2>
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
        let marks = figures.map { (value: Double($0.result.rows), label: BenchmarkWords.count($0.result.rows)) }
        let chart = LineChart(
            label: "Time of a unit over the number of rows, \(title), as in the table below", series: series,
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
                "<td>\(workload.subject(subject.name)?.unitTime.map { BenchmarkWords.time($0.median) } ?? "–")</td>"
            }
            return "<tr><th scope=\"row\">\(Escape.markup(subject.name))</th>\(cells.joined())</tr>"
        }
        return HTMLFrame.table(
            caption: "Time of a unit over the number of rows, \(title)",
            heading: [""] + figures.map { BenchmarkWords.count($0.result.rows) }, rows: rows, className: "figures small"
        )
    }
}
