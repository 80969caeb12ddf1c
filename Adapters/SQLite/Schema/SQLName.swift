internal import TidelineStore

extension String {
    /// The text as an SQL identifier, whatever characters it has.
    var sqlName: String { "\"\(replacing("\"", with: "\"\""))\"" }

    /// Whether both texts are the same bytes; `==` holds canonically equivalent ones to be equal, SQLite does not.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether both texts are the same bytes but for ASCII case: whether SQLite holds the names to be one.
    func hasSameFoldedBytes(as other: String) -> Bool { asciiLowercased.hasSameBytes(as: other.asciiLowercased) }
}
