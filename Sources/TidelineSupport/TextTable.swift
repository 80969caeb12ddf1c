/// Columns of text, aligned.
package struct TextTable {
    /// The cells, row by row; the first row is the heading.
    package var rows: [[String]]
    /// Which columns have numbers, which end below each other.
    package var numbers: Set<Int> = []

    /// A table.
    package init(rows: [[String]], numbers: Set<Int> = []) {
        self.rows = rows
        self.numbers = numbers
    }

    /// The lines, without blanks at their ends.
    package var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let blanks = String(repeating: " ", count: widths[column] - cell.count)
                return numbers.contains(column) ? blanks + cell : cell + blanks
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
