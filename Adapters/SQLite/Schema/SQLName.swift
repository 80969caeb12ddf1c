extension String {
    /// The text as an SQL identifier, whatever characters it has.
    var sqlName: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
