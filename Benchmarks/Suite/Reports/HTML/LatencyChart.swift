internal import TidelineSupport

/// The times in which shares of a workload's operations end: a curve for each subject, and a table beside it.
struct LatencyChart {
    /// The rarest operations that the curve shows: one of so many.
    private static let rarest = 100_000.0

    let workload: WorkloadFigures
    let columns: [SubjectDescription]
    let palette: HTMLPalette

    var html: String {
        let figures = columns.compactMap { workload.subject($0.name) }.compactMap { figures in
            figures.result.latency.flatMap { figures.unitTime == nil ? nil : (figures.subject, $0) }
        }
        guard !figures.isEmpty else { return "" }
        return """
            <details>
            <summary>Latency</summary>
            \(chart(figures))
            \(palette.key(figures.map(\.0)))
            \(table(figures))
            </details>
            """
    }

    private func chart(_ figures: [(SubjectDescription, LatencySummary)]) -> String {
        let series = figures.map { subject, latency in
            LineChart.Series(
                subject: subject,
                points: latency.curve.filter { $0.share >= 0 && $0.share <= 1 }.map { point in
                    // How rare the slower ones are: one of two, of ten, of a hundred.
                    (x: min(1 / max(1 - point.share, 1 / Self.rarest), Self.rarest), y: Double(point.nanoseconds) / 1e9)
                })
        }
        let marks: [LineChart.Mark] = [
            (1, ""), (2, "50 %"), (10, "90 %"), (100, "99 %"), (1000, "99.9 %"), (Self.rarest, "99.999 %"),
        ]
        return LineChart(
            label: "Latency of \(workload.result.title): the time in which a share of the operations ends, "
                + "as in the table below",
            series: series, marks: marks, palette: palette
        ).html
    }

    private func table(_ figures: [(SubjectDescription, LatencySummary)]) -> String {
        let rows = figures.map { subject, latency in
            let times = [latency.p50, latency.p90, latency.p99, latency.p999, latency.max]
            let cells = times.map { "<td>\(BenchmarkWords.time(Double($0) / 1e9))</td>" }.joined()
            return "<tr><th scope=\"row\">\(Escape.markup(subject.name))</th>\(cells)</tr>"
        }
        return HTMLFrame.table(
            caption: "Latency of \(workload.result.title)", heading: ["", "50 %", "90 %", "99 %", "99.9 %", "longest"],
            rows: rows, className: "figures small")
    }
}
