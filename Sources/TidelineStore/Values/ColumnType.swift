/// The type of a column. A column may also hold null unless declared otherwise.
public enum ColumnType: String, Sendable, Hashable, Codable, CaseIterable {
    /// A Boolean value.
    case bool
    /// A 64-bit integer.
    case int
    /// An IEEE 754 double.
    case double
    /// UTF-8 text.
    case string
    /// An instant with a resolution of 100 ns, in the years 1 to 9999.
    case timestamp
    /// Bytes.
    case bytes
    /// The text of a JSON array or object.
    case json
}
