/// A Markdown table whose cells are escaped.
package struct MarkdownTable {
    /// The cells of the heading row.
    package var heading: [String]
    /// The cells of the other rows.
    package var rows: [[String]]
    /// The columns that contain numbers and are aligned to the right.
    package var numbers: Set<Int>
    /// The cells in bold.
    package var bold: Set<Place>

    /// The position of a cell, not counting the heading.
    package struct Place: Hashable {
        var row: Int
        var column: Int

        /// Creates a position.
        package init(row: Int, column: Int) {
            self.row = row
            self.column = column
        }
    }

    /// Creates a table.
    package init(heading: [String], rows: [[String]], numbers: Set<Int> = [], bold: Set<Place> = []) {
        self.heading = heading
        self.rows = rows
        self.numbers = numbers
        self.bold = bold
    }

    /// The table as Markdown text.
    package var text: String {
        let rule = heading.indices.map { numbers.contains($0) ? " ---: |" : " --- |" }
        return ([line(heading.map(Escape.markdown)), "|" + rule.joined()] + rows.indices.map(row)).joined(
            separator: "\n")
    }

    private func row(_ row: Int) -> String {
        line(
            rows[row].enumerated().map { column, text in
                bold.contains(Place(row: row, column: column)) ? "**\(Escape.markdown(text))**" : Escape.markdown(text)
            })
    }

    private func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}
