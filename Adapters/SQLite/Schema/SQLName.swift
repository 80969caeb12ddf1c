extension String {
    /// The text as a quoted SQL identifier, whatever characters it contains.
    var sqlName: String {
        let isPlain = !utf8.contains(UInt8(ascii: "\""))
        return isPlain ? "\"\(self)\"" : "\"\(replacing("\"", with: "\"\""))\""
    }
}
