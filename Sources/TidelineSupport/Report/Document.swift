/// A report as blocks of text, which ``markdown`` and ``html`` write.
///
/// All texts are plain; the writers escape them.
package struct Document {
    /// The heading.
    package var title: String
    /// The blocks between the heading and the first section.
    package var introduction: [Block]
    /// The other blocks, usually sections.
    package var body: [Block]
    /// The page's own style rules, which follow the shared rules.
    package var style: String
    /// The page's script, or an empty string.
    package var script: String

    package init(
        _ title: String, introduction: [Block] = [], body: [Block], style: String = "", script: String = ""
    ) {
        self.title = title
        self.introduction = introduction
        self.body = body
        self.style = style
        self.script = script
    }
}

/// A part of a document.
package indirect enum Block {
    /// A heading with the blocks below it, and an identifier for links and scripts.
    case section(String, id: String? = nil, [Block])
    /// A paragraph.
    case paragraph(RichText)
    /// A paragraph that a reader must not miss.
    case warning(String)
    /// A list.
    case list([RichText])
    /// A list of names with descriptions.
    case facts([(String, String)])
    /// A table.
    case table(Table)
    /// A summary with blocks that a page shows on demand.
    case details(RichText, isOpen: Bool = false, [Block])
    /// Text with line breaks, in a monospaced font.
    case code(String)
    /// HTML, such as a chart, which Markdown omits.
    case html(String)
}

/// A table.
package struct Table {
    /// A row.
    package struct Row {
        package var cells: [RichText]
        /// The blocks to which a page expands the row.
        package var expansion: Expansion?

        package init(_ cells: [RichText], expansion: Expansion? = nil) {
            self.cells = cells
            self.expansion = expansion
        }
    }

    /// The blocks to which a row expands.
    package struct Expansion {
        package var id: String
        /// Words by which a script can filter the rows.
        package var tags: [String]
        package var blocks: [Block]

        package init(id: String, tags: [String], _ blocks: [Block]) {
            (self.id, self.tags, self.blocks) = (id, tags, blocks)
        }
    }

    /// The title, which a page reads only to screen readers.
    package var caption: String
    package var heading: [String]
    package var rows: [Row]
    /// The columns that contain numbers and are aligned to the right.
    package var numbers: Set<Int>
    /// The number of columns that contain the row's name; a page shows them as one.
    package var names: Int
    /// The class for style rules.
    package var look: String

    package init(
        _ caption: String, heading: [String], rows: [Row], numbers: Set<Int> = [], names: Int = 1, look: String = ""
    ) {
        self.caption = caption
        self.heading = heading
        self.rows = rows
        self.numbers = numbers
        self.names = names
        self.look = look
    }

    /// Returns the lines for a terminal.
    /// - Parameter count: The number of columns to include, or `nil` for all.
    package func lines(_ style: TerminalStyle, columns count: Int? = nil) -> [String] {
        let cells = rows.map { $0.cells.prefix(count ?? .max) }
        let texts = [Array(heading.prefix(count ?? .max))] + cells.map { $0.map { Escape.line($0.plain) } }
        return TextTable(rows: texts, numbers: numbers).lines { row, column, text in
            row == 0 ? style.strong(text) : style.styled(text, cells[row - 1][column].spans.last?.look ?? .plain)
        }
    }
}
