extension Document {
    /// The document as Markdown.
    package var markdown: String { ([.section(title, introduction + body)] as [Block]).markdown() }
}

extension [Block] {
    /// Returns the blocks as Markdown that ends with a newline.
    /// - Parameter level: The level of headings, 1 for the document's title.
    package func markdown(level: Int = 1) -> String {
        flatMap { $0.markdown(level: level) }.joined(separator: "\n\n") + "\n"
    }
}

extension Block {
    fileprivate func markdown(level: Int) -> [String] {
        switch self {
        case .section(let title, _, let blocks):
            let parts = blocks.flatMap { $0.markdown(level: level + 1) }
            return [String(repeating: "#", count: level) + " " + Escape.markdown(title)] + parts
        case .paragraph(let text): return [text.markdown]
        case .warning(let text): return ["**\(Escape.markdown(text))**"]
        case .list(let items): return items.isEmpty ? [] : [items.map { "- " + $0.markdown }.joined(separator: "\n")]
        case .facts(let facts):
            return [facts.map { "- \(Escape.markdown($0)): \(Escape.markdown($1))" }.joined(separator: "\n")]
        case .table(let table): return [table.markdown]
        case .details(let summary, _, let blocks):
            return [summary.markdown] + blocks.flatMap { $0.markdown(level: level) }
        case .code(let text):
            return [Escape.terminal(text).split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")]
        case .html: return []
        }
    }
}

extension Table {
    fileprivate var markdown: String {
        let rule = heading.indices.map { numbers.contains($0) ? " ---: |" : " --- |" }
        let lines = [line(heading.map(Escape.markdown)), "|" + rule.joined()]
        return (lines + rows.map { line($0.cells.map(\.markdown)) }).joined(separator: "\n")
    }

    private func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}

extension RichText {
    fileprivate var markdown: String {
        spans.map { span in
            let text = Escape.markdown(span.sign ?? span.text)
            return switch span.look {
            case .code where text == span.text: "`\(text)`"
            case .strong: "**\(text)**"
            case .detail: ", \(text)"
            default: text
            }
        }.joined()
    }
}
