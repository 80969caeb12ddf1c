/// What is wrong with a page.
enum HTMLCheck {
    /// What is loaded from elsewhere, text that became markup, and the elements that are not closed in turn.
    static func problems(_ html: String) -> [String] {
        var problems: [String] = []
        for word in [" src=", "url(", "http:", "https:", "@import", "<link", "<script"] where html.contains(word) {
            problems.append("it has \(word)")
        }
        if html.unicodeScalars.contains(where: { $0.properties.generalCategory == .control && $0 != "\n" }) {
            problems.append("it has control characters")
        }
        if html.contains("nan") || html.contains("inf\"") { problems.append("it has what is no number") }
        return problems + unclosed(html)
    }

    private static func unclosed(_ html: String) -> [String] {
        let withoutStyle = html.replacing(#/<style>[\s\S]*?<\/style>/#, with: "")
        var open: [String] = []
        for match in withoutStyle.matches(of: #/<(\/?)([a-zA-Z!][a-zA-Z0-9]*)[^>]*>/#) {
            let name = String(match.output.2)
            if ["meta", "br", "!DOCTYPE"].contains(name) { continue }
            if match.output.1.isEmpty {
                open.append(name)
            } else if open.popLast() != name {
                return ["\(name) is closed out of turn"]
            }
        }
        return open.map { "\($0) is not closed" }
    }
}

/// What is wrong with tables in Markdown.
enum MarkdownCheck {
    /// The rows that have another number of cells than the one before.
    static func unevenRows(_ text: String) -> [String] {
        var (cells, uneven): (Int?, [String]) = (nil, [])
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                cells = nil
                continue
            }
            let count = line.replacing("\\|", with: "").count { $0 == "|" }
            if !line.hasSuffix("|") || count != cells ?? count { uneven.append(String(line)) }
            cells = count
        }
        return uneven
    }
}
