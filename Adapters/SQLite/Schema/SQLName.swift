extension String {
    /// The text as an SQL identifier, whatever characters it has.
    var sqlName: String {
        let isPlain = !utf8.contains(UInt8(ascii: "\""))
        return isPlain ? "\"\(self)\"" : "\"\(replacing("\"", with: "\"\""))\""
    }
}
