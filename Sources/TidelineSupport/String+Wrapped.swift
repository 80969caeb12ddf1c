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
}
