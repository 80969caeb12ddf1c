extension String {
    /// Returns the words wrapped to lines of at most `width` characters, at least one line. Longer words are broken.
    package func wrapped(to width: Int) -> [String] {
        let width = Swift.max(width, 1)
        var lines = [""]
        for word in split(separator: " ") {
            var rest = word
            while !rest.isEmpty {
                let last = lines[lines.count - 1]
                let room = width - (last.isEmpty ? 0 : last.count + 1)
                if rest.count <= room || last.isEmpty {
                    lines[lines.count - 1] += (last.isEmpty ? "" : " ") + rest.prefix(room)
                    rest = rest.dropFirst(room)
                } else {
                    lines.append("")
                }
            }
        }
        return lines
    }

    /// Returns the words wrapped to lines of at most `width` characters, beside a label.
    /// - Parameters:
    ///   - labelWidth: The width of the label with the spaces after it, to which the lines are indented.
    ///   - look: Styles the label.
    package func wrapped(
        to width: Int, after label: String, labelWidth: Int, look: (String) -> String = { $0 }
    ) -> [String] {
        let lines = wrapped(to: Swift.max(width - labelWidth, 20))
        let blanks = String(repeating: " ", count: Swift.max(labelWidth - label.count, 2))
        let indent = String(repeating: " ", count: labelWidth)
        return [look(label) + blanks + lines[0]] + lines.dropFirst().map { indent + $0 }
    }
}
