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
