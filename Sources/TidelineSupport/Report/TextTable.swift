/// A table of text with aligned columns.
package struct TextTable {
    /// The cells by row. The first row is the heading.
    package var rows: [[String]]
    /// The columns that contain numbers and are aligned to the right.
    package var numbers: Set<Int> = []
    /// The text between two columns.
    package var separator = "  "

    /// A function that styles a cell without changing its width.
    package typealias Styling = (_ row: Int, _ column: Int, _ text: String) -> String

    package init(rows: [[String]], numbers: Set<Int> = [], separator: String = "  ") {
        self.rows = rows
        self.numbers = numbers
        self.separator = separator
    }

    /// The lines of the table, without trailing spaces.
    package var lines: [String] { lines { $2 } }

    /// Returns the lines of the table, with cells styled by `styling`.
    package func lines(styling: Styling) -> [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        return rows.enumerated().map { line($0.offset, $0.element, widths, styling) }
    }

    private func line(_ number: Int, _ row: [String], _ widths: [Int], _ styling: Styling) -> String {
        let filled = row.lastIndex { !$0.allSatisfy { $0 == " " } } ?? -1
        let cells = row.prefix(filled + 1).enumerated().map { column, cell in
            let blanks = String(repeating: " ", count: widths[column] - cell.count)
            let isLast = column == filled
            let text = isLast ? String(cell.reversed().drop { $0 == " " }.reversed()) : cell
            let styled = text.isEmpty ? "" : styling(number, column, text)
            return numbers.contains(column) ? blanks + styled : isLast ? styled : styled + blanks
        }
        return cells.joined(separator: separator)
    }
}
