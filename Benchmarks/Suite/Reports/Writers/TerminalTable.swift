internal import TidelineSupport

/// How much of each figure a table shows.
enum FigureDetail: Int, Comparable {
    case time, ratio, spread

    static func < (a: FigureDetail, b: FigureDetail) -> Bool { a.rawValue < b.rawValue }
}

/// How a section is laid out on a terminal of a certain width: in one table that shows as much as fits, or in several, each
/// with some of the subjects.
struct TerminalLayout {
    /// The widest that titles get; they go on in a second line.
    private static let widestTitle = 44
    /// The narrowest, before something is left out.
    private static let narrowestTitle = 26
    /// How much one table of all subjects can show, with the narrowest titles for it.
    private static let details: [(FigureDetail, narrowestTitle: Int)] = [
        (.spread, narrowestTitle), (.ratio, narrowestTitle), (.ratio, 18), (.time, 18),
    ]

    let section: FigureSection
    let width: Int
    let style: TerminalStyle

    /// The tables.
    var tables: [TerminalTable] {
        let all = section.columns
        for (detail, narrowestTitle) in Self.details {
            let room = self.room(for: all, detail)
            if room >= narrowestTitle { return [table(all, room, detail)] }
        }
        var tables: [TerminalTable] = []
        var rest = all[...]
        while !rest.isEmpty {
            let fitting = (1...rest.count).last {
                room(for: Array(rest.prefix($0)), .spread) >= Self.narrowestTitle
            }
            let columns = Array(rest.prefix(fitting ?? 1))
            tables.append(table(columns, room(for: columns, .spread), .spread))
            rest = rest.dropFirst(columns.count)
        }
        return tables
    }

    private func table(_ columns: [SubjectDescription], _ room: Int, _ detail: FigureDetail) -> TerminalTable {
        TerminalTable(
            section: section, columns: columns, titleWidth: max(min(room, Self.widestTitle), 12), detail: detail,
            style: style)
    }

    /// What is left for titles beside these columns.
    private func room(for columns: [SubjectDescription], _ detail: FigureDetail) -> Int {
        let cells = columns.map { column in
            max(SubjectCells(section: section, subject: column, detail: detail).lines[0].count, name(column))
        }
        let unit = section.workloads.map { $0.result.unit.count + 3 }.max() ?? 0
        // Two blanks before the titles, and between columns.
        return width - 2 - (unit + 2) - cells.reduce(0) { $0 + $1 + 2 }
    }

    /// How wide the heading of a column is, whose name is broken where that does not fit.
    private func name(_ subject: SubjectDescription) -> Int {
        min(Escape.line(subject.name).count, TerminalTable.widestName)
    }
}

/// A section's figures as a table for a terminal: a row for each workload, beside it each subject's time and ratio.
struct TerminalTable {
    /// Beyond so many characters the name of a column goes on in another line.
    static let widestName = 17

    let section: FigureSection
    /// Those that have a column here; the rest of the section's have a table of their own.
    let columns: [SubjectDescription]
    /// How wide the titles are.
    let titleWidth: Int
    /// How much of each figure it shows.
    let detail: FigureDetail
    let style: TerminalStyle

    /// A row of cells, with how each looks.
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
            Escape.line(column.name).replacing(",", with: ", ").wrapped(to: max(labels[index].count, Self.widestName))
        }
        let height = names.map(\.count).max() ?? 0
        let lines = (0..<height).map { place in
            Line(
                cells: ["", ""] + names.map { $0.indices.contains(place) ? $0[place] : "" },
                style: { style.strong($1) })
        }
        return lines + [Line(cells: ["", ""] + labels, style: { style.faint($1) })]
    }

    private func workload(_ workload: WorkloadFigures, _ cells: [String]) -> [Line] {
        // Its second line is set in by two more.
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

/// The cells of one subject in a section: a heading, then one for each workload, aligned with one another.
struct SubjectCells {
    let section: FigureSection
    let subject: SubjectDescription
    let detail: FigureDetail

    var lines: [String] {
        let rows = section.groups.flatMap(\.workloads).map(cells)
        let heading = section.hasRatios && detail >= .ratio ? ["time ", "×C", ""] : ["time ", "", ""]
        let lines = TextTable(rows: [heading] + rows, numbers: [0, 1], separator: " ").lines
        let width = lines.map(\.count).max() ?? 0
        // Blanks at the end, so that the heading is as wide as the cells.
        return lines.map { $0 + String(repeating: " ", count: width - $0.count) }
    }

    /// The unit of a workload's row, the same for all.
    static func unit(_ workload: WorkloadFigures) -> TimeUnit {
        let held = workload.subjects.filter { $0.subject.kind != .baseline }
        return .fitting(all: (held.isEmpty ? workload.subjects : held).compactMap(\.unitTime?.median))
    }

    private func cells(_ workload: WorkloadFigures) -> [String] {
        guard let figures = workload.subject(subject.name) else { return ["", "", ""] }
        if let failure = figures.result.failure { return [failure.kind.sign + " ", "", ""] }
        guard let time = figures.unitTime?.median else { return ["", "", ""] }
        let number = BenchmarkWords.number(time / Self.unit(workload).seconds) + (figures.isFastest ? "*" : " ")
        guard detail >= .ratio, let ratio = figures.ratio else { return [number, "", ""] }
        if BenchmarkWords.isUnclear(ratio) { return [number, BenchmarkWords.unclear, ""] }
        return [
            number, BenchmarkWords.ratio(ratio.median),
            detail == .spread ? BenchmarkWords.reach(of: ratio) ?? "" : "",
        ]
    }
}
