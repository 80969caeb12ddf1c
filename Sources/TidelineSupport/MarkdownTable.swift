/// A table in Markdown, its cells escaped.
package struct MarkdownTable {
    /// The cells of the first row.
    package var heading: [String]
    /// The others.
    package var rows: [[String]]
    /// Which columns have numbers, which end below each other.
    package var numbers: Set<Int>
    /// Which cells stand out.
    package var bold: Set<Place>

    /// The place of a cell, the heading apart.
    package struct Place: Hashable {
        var row: Int
        var column: Int

        /// A place.
        package init(row: Int, column: Int) {
            self.row = row
            self.column = column
        }
    }

    /// A table.
    package init(heading: [String], rows: [[String]], numbers: Set<Int> = [], bold: Set<Place> = []) {
        self.heading = heading
        self.rows = rows
        self.numbers = numbers
        self.bold = bold
    }

    /// Its lines.
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
