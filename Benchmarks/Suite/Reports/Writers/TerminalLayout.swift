internal import TidelineSupport

/// How a section is laid out on a terminal of a certain width: in one table with or without spreads, or in several, each
/// with some of the subjects.
struct TerminalLayout {
    /// The widest that titles get; they go on in a second line.
    private static let widestTitle = 44
    /// The narrowest, before something is left out.
    private static let narrowestTitle = 26

    let section: FigureSection
    let width: Int
    let style: TerminalStyle

    /// The tables.
    var tables: [TerminalTable] {
        let all = section.columns
        for hasSpread in [true, false] {
            let room = self.room(for: all, hasSpread: hasSpread)
            if room >= Self.narrowestTitle { return [table(all, room, hasSpread)] }
        }
        var tables: [TerminalTable] = []
        var rest = all[...]
        while !rest.isEmpty {
            let fitting = (1...rest.count).last {
                room(for: Array(rest.prefix($0)), hasSpread: true) >= Self.narrowestTitle
            }
            let columns = Array(rest.prefix(fitting ?? 1))
            tables.append(table(columns, room(for: columns, hasSpread: true), true))
            rest = rest.dropFirst(columns.count)
        }
        return tables
    }

    private func table(_ columns: [SubjectDescription], _ room: Int, _ hasSpread: Bool) -> TerminalTable {
        TerminalTable(
            section: section, columns: columns, titleWidth: max(min(room, Self.widestTitle), 12),
            hasSpread: hasSpread, style: style)
    }

    /// What is left for titles beside these columns.
    private func room(for columns: [SubjectDescription], hasSpread: Bool) -> Int {
        let cells = columns.map { column in
            max(SubjectCells(section: section, subject: column, hasSpread: hasSpread).lines[0].count, name(column))
        }
        let unit = section.workloads.map { $0.result.unit.count + 3 }.max() ?? 0
        // Two blanks before the titles, and between columns.
        return width - 2 - (unit + 2) - cells.reduce(0) { $0 + $1 + 2 }
    }

    /// How wide the heading of a column is, whose name is broken after 14 characters.
    private func name(_ subject: SubjectDescription) -> Int { min(Escape.line(subject.name).count, 14) }
}
