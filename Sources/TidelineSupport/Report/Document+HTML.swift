extension Document {
    /// The document as a self-contained HTML page, which loads nothing and runs no scripts other than its own.
    package var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" \
        content="default-src 'none'; style-src 'unsafe-inline'; \(script.isEmpty ? "" : "script-src 'unsafe-inline'; ")\
        base-uri 'none'; form-action 'none'">
        <meta name="color-scheme" content="light dark">
        <title>\(Escape.markup(title))</title>
        <style>
        \(HTMLStyle.shared)
        \(style)
        </style>
        </head>
        <body>
        <header>
        <h1>\(Escape.markup(title))</h1>
        \(introduction.html())
        </header>
        <main>
        \(body.html())
        </main>
        \(script.isEmpty ? "" : "<script>\n\(script)\n</script>\n")</body>
        </html>

        """
    }
}

extension [Block] {
    /// Returns the blocks as HTML.
    /// - Parameter level: The level of headings, 1 for the document's title.
    package func html(level: Int = 2) -> String { map { $0.html(level: level) }.joined(separator: "\n") }
}

extension Block {
    fileprivate func html(level: Int) -> String {
        switch self {
        case .section(let title, let id, let blocks):
            let id = id.map { " id=\"\(Escape.markup($0))\"" } ?? ""
            let heading = "<h\(level)>\(Escape.markup(title))</h\(level)>"
            return "<section\(id)>\n\(heading)\n\(blocks.html(level: level + 1))\n</section>"
        case .paragraph(let text): return "<p>\(text.html)</p>"
        case .warning(let text): return "<p class=\"warning\">\(Escape.markup(text))</p>"
        case .list(let items): return "<ul>\n\(items.map { "<li>\($0.html)</li>" }.joined(separator: "\n"))\n</ul>"
        case .facts(let facts):
            return "<dl>\(facts.map { "<dt>\(Escape.markup($0))</dt><dd>\(Escape.markup($1))</dd>" }.joined())</dl>"
        case .table(let table): return table.html
        case .details(let summary, let isOpen, let blocks):
            let body = blocks.html(level: level)
            return "<details\(isOpen ? " open" : "")>\n<summary>\(summary.html)</summary>\n\(body)\n</details>"
        case .code(let text): return "<pre>\(Escape.markupLines(text))</pre>"
        case .html(let text): return text
        }
    }
}

extension Table {
    /// The table in a region that scrolls horizontally if it is too wide for the page.
    fileprivate var html: String {
        let titles = [(0, heading.prefix(names).joined(separator: " "))] + heading.enumerated().dropFirst(names)
        let cells = titles.map { "<th scope=\"col\"\(number($0))><span>\(Escape.markup($1))</span></th>" }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="\(Escape.markup(caption))">
            <table class="\(look)">
            <caption>\(Escape.markup(caption))</caption>
            <thead><tr>\(cells.joined())</tr></thead>
            <tbody>
            \(rows.map(html).joined(separator: "\n"))
            </tbody>
            </table>
            </div>
            """
    }

    private func html(_ row: Row) -> String {
        let name = row.cells.prefix(names).map(\.html).joined(separator: " ")
        let cells = row.cells.enumerated().dropFirst(names).map { column, text in
            "<td\(number(column))>\(text.html)</td>"
        }.joined()
        guard let expansion = row.expansion else {
            return "<tr><th scope=\"row\"\(number(0))>\(name)</th>\(cells)</tr>"
        }
        let id = Escape.markup(expansion.id)
        return """
            <tr class="check" id="\(id)" data-status="\(expansion.tags.map(Escape.markup).joined(separator: " "))">\
            <th scope="row"><details><summary aria-controls="\(id)-more">\(name)</summary></details></th>\(cells)</tr>
            <tr class="more" id="\(id)-more"><td colspan="\(heading.count - names + 1)">\
            \(expansion.blocks.html(level: 4))</td></tr>
            """
    }

    private func number(_ column: Int) -> String { numbers.contains(column) ? " class=\"number\"" : "" }
}

extension RichText {
    /// The text as HTML.
    package var html: String { spans.map(\.html).joined() }
}

extension RichText.Span {
    fileprivate var html: String {
        let text = Escape.markup(text)
        let body = sign.map { "<span aria-hidden=\"true\">\($0)</span> <span class=\"words\">\(text)</span>" } ?? text
        let styled =
            switch look {
            case .plain: body
            case .strong: "<strong>\(body)</strong>"
            case .small: "<small>\(body)</small>"
            case .code: "<code>\(body)</code>"
            case .detail: "<br><small>\(body)</small>"
            case .faint, .good, .bad, .open: "<span class=\"\(look.rawValue)\">\(body)</span>"
            }
        return link.map { "<a href=\"#\(Escape.markup($0))\">\(styled)</a>" } ?? styled
    }
}
