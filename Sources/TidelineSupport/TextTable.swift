/// Columns of text, aligned.
package struct TextTable {
    /// The cells, row by row; the first row is the heading.
    package var rows: [[String]]
    /// Which columns have numbers, which end below each other.
    package var numbers: Set<Int> = []
    /// What lies between two columns.
    package var separator = "  "

    /// Changes how a cell looks, not how wide it is.
    package typealias Styling = (_ row: Int, _ column: Int, _ text: String) -> String

    /// A table.
    package init(rows: [[String]], numbers: Set<Int> = [], separator: String = "  ") {
        self.rows = rows
        self.numbers = numbers
        self.separator = separator
    }

    /// The lines, without blanks at their ends.
    package var lines: [String] { lines { $2 } }

    /// The lines, with cells that look as `styling` says.
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
