#if Commands
internal import TidelineSupport

/// The details of figures that a table shows.
enum FigureDetail: Int, Comparable {
    case time, ratio, spread

    static func < (a: FigureDetail, b: FigureDetail) -> Bool { a.rawValue < b.rawValue }
}

/// The layout of a section for the width of a terminal: one table with as many details as fit, or several tables with
/// some of the subjects each.
struct TerminalLayout {
    /// The maximum width of titles, which wrap to further lines.
    private static let maxTitle = 44
    /// The minimum width of titles before details are omitted.
    private static let minTitle = 26
    /// The details that one table of all subjects can show, with the minimum width of titles for each.
    private static let details: [(FigureDetail, minTitle: Int)] = [
        (.spread, minTitle), (.ratio, minTitle), (.ratio, 18), (.time, 18),
    ]

    let section: FigureSection
    let width: Int
    let style: TerminalStyle

    /// The tables.
    var tables: [TerminalTable] {
        let all = section.columns
        for (detail, minTitle) in Self.details {
            let room = self.titleWidth(beside: all, detail)
            if room >= minTitle { return [table(all, room, detail)] }
        }
        var tables: [TerminalTable] = []
        var rest = all[...]
        while !rest.isEmpty {
            let fitting = (1...rest.count).last { titleWidth(beside: Array(rest.prefix($0)), .spread) >= Self.minTitle }
            let columns = Array(rest.prefix(fitting ?? 1))
            tables.append(table(columns, titleWidth(beside: columns, .spread), .spread))
            rest = rest.dropFirst(columns.count)
        }
        return tables
    }

    private func table(_ columns: [SubjectDescription], _ width: Int, _ detail: FigureDetail) -> TerminalTable {
        TerminalTable(
            section: section, columns: columns, titleWidth: max(min(width, Self.maxTitle), 12), detail: detail,
            style: style)
    }

    /// The width that is left for titles beside columns.
    private func titleWidth(beside columns: [SubjectDescription], _ detail: FigureDetail) -> Int {
        let cells = columns.map { column in
            max(SubjectCells(section: section, subject: column, detail: detail).lines[0].count, name(column))
        }
        let unit = section.workloads.map { $0.result.unit.count + 3 }.max() ?? 0
        // Two spaces before the titles and between columns.
        return width - 2 - (unit + 2) - cells.reduce(0) { $0 + $1 + 2 }
    }

    /// The width of a column's heading, which wraps if it is too long.
    private func name(_ subject: SubjectDescription) -> Int {
        min(Escape.line(subject.name).count, TerminalTable.maxName)
    }
}

/// The table of a section for a terminal: a row for each workload, with the time and the ratio of each subject.
struct TerminalTable {
    /// The maximum width of a column's name, which wraps to further lines.
    static let maxName = 17

    let section: FigureSection
    /// The subjects with a column in this table.
    let columns: [SubjectDescription]
    /// The width of the titles.
    let titleWidth: Int
    /// The details of figures.
    let detail: FigureDetail
    let style: TerminalStyle

    /// A row of cells and their style.
    private struct Line {
        var cells: [String]
        var style: (_ column: Int, _ text: String) -> String = { $1 }
    }

    var lines: [String] {
        let cells = columns.map { column in
            SubjectCells(section: section, subject: column, detail: detail).lines
        }
        var lines = heading(cells.map { $0[0] })
        var row = 1
        for (group, workloads) in section.groups {
            lines.append(Line(cells: [""]))
            if !section.isJSON { lines.append(Line(cells: [group.title], style: { style.strong($1) })) }
            for workload in workloads {
                lines += self.workload(workload, cells.map { $0[row] })
                row += 1
            }
        }
        return TextTable(rows: lines.map(\.cells)).lines { lines[$0].style($1, $2) }
    }

    private func heading(_ labels: [String]) -> [Line] {
        let names = columns.enumerated().map { index, column in
            Escape.line(column.name).replacing(",", with: ", ").wrapped(to: max(labels[index].count, Self.maxName))
        }
        let height = names.map(\.count).max() ?? 0
        let lines = (0..<height).map { position in
            Line(
                cells: ["", ""] + names.map { $0.indices.contains(position) ? $0[position] : "" },
                style: { style.strong($1) })
        }
        return lines + [Line(cells: ["", ""] + labels, style: { style.faint($1) })]
    }

    private func workload(_ workload: WorkloadFigures, _ cells: [String]) -> [Line] {
        // Wrapped lines are indented by two more spaces.
        let title = Escape.line(workload.result.title).wrapped(to: titleWidth - 2).map { "  \($0)" }
        let unit = "\(SubjectCells.unit(workload).rawValue)/\(Escape.line(workload.result.unit))"
        let figures = columns.map { workload.subject($0.name) }
        let first = Line(cells: [title[0], unit] + cells) { column, text in
            switch column {
            case 0: text
            case 1: style.faint(text)
            default: look(figures[column - 2], text)
            }
        }
        return [first] + title.dropFirst().map { Line(cells: ["  " + $0]) }
    }

    private func look(_ figures: SubjectFigures?, _ text: String) -> String {
        switch figures?.result.failure?.kind {
        case .failed, .wrongAnswer: style.bad(text)
        case .notApplicable: style.faint(text)
        case nil: figures?.isFastest == true ? style.good(text) : text
        }
    }
}

/// The aligned cells of a subject in a section: a heading, and one cell for each workload.
struct SubjectCells {
    let section: FigureSection
    let subject: SubjectDescription
    let detail: FigureDetail

    var lines: [String] {
        let rows = section.groups.flatMap(\.workloads).map(cells)
        let heading = section.hasRatios && detail >= .ratio ? ["time ", "×C", ""] : ["time ", "", ""]
        let lines = TextTable(rows: [heading] + rows, numbers: [0, 1], separator: " ").lines
        let width = lines.map(\.count).max() ?? 0
        // Pad the lines, so that the heading is as wide as the cells.
        return lines.map { $0 + String(repeating: " ", count: width - $0.count) }
    }

    /// The unit of time in a workload's row, the same for all subjects.
    static func unit(_ workload: WorkloadFigures) -> TimeUnit {
        let held = workload.subjects.filter { $0.subject.kind != .baseline }
        return .fitting(all: (held.isEmpty ? workload.subjects : held).compactMap(\.unitTime?.median))
    }

    private func cells(_ workload: WorkloadFigures) -> [String] {
        guard let figures = workload.subject(subject.name) else { return ["", "", ""] }
        if let failure = figures.result.failure { return [failure.kind.sign + " ", "", ""] }
        guard let time = figures.unitTime?.median else { return ["", "", ""] }
        let number = FigureFormat.number(time / Self.unit(workload).seconds) + (figures.isFastest ? "*" : " ")
        guard detail >= .ratio, let ratio = figures.ratio else { return [number, "", ""] }
        if FigureFormat.isUnclear(ratio) { return [number, FigureFormat.unclear, ""] }
        return [
            number, FigureFormat.ratio(ratio.median),
            detail == .spread ? FigureFormat.reach(of: ratio) ?? "" : "",
        ]
    }
}
#endif
