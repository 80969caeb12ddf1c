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

/// A Swift type whose values a column can hold, and over which ``Column`` is generic.
///
/// The types are `Bool`, `Int`, `Int64`, `Double`, `String`, ``Timestamp``, `Date`, and `[UInt8]`.
public protocol ColumnValue: Sendable {
    /// The type of a column that holds such values.
    static var columnType: ColumnType { get }
    /// The stored form.
    var value: Value { get }
    /// Creates a value from its stored form, or `nil` if that is null, of another type, or out of range.
    init?(value: Value)
    /// Reads the column at the given position of a row, or returns `nil` if it is null, absent, or of another type.
    ///
    /// The default implementation uses ``init(value:)``. Types that a row can return directly read it without a
    /// ``Value``.
    static func read(_ row: borrowing RowView, at index: Int) -> Self?
}

extension ColumnValue {
    public static func read(_ row: borrowing RowView, at index: Int) -> Self? {
        guard let value = row.value(at: index) else { return nil }
        return Self(value: value)
    }
}

extension Bool: ColumnValue {
    public static var columnType: ColumnType { .bool }
    public var value: Value { .bool(self) }
    public init?(value: Value) {
        guard let bool = value.bool else { return nil }
        self = bool
    }
    public static func read(_ row: borrowing RowView, at index: Int) -> Self? { row.bool(at: index) }
}

extension Int64: ColumnValue {
    public static var columnType: ColumnType { .int }
    public var value: Value { .int(self) }
    public init?(value: Value) {
        guard let int = value.int else { return nil }
        self = int
    }
    public static func read(_ row: borrowing RowView, at index: Int) -> Self? { row.int(at: index) }
}

extension Int: ColumnValue {
    public static var columnType: ColumnType { .int }
    public var value: Value { .int(Int64(self)) }
    public init?(value: Value) {
        guard let int = value.int, let narrowed = Int(exactly: int) else { return nil }
        self = narrowed
    }
    public static func read(_ row: borrowing RowView, at index: Int) -> Self? {
        row.int(at: index).flatMap { Int(exactly: $0) }
    }
}

extension Double: ColumnValue {
    public static var columnType: ColumnType { .double }
    public var value: Value { .double(self) }
    public init?(value: Value) {
        guard let double = value.double else { return nil }
        self = double
    }
}

extension String: ColumnValue {
    public static var columnType: ColumnType { .string }
    public var value: Value { .string(self) }
    public init?(value: Value) {
        guard let string = value.string else { return nil }
        self = string
    }
    public static func read(_ row: borrowing RowView, at index: Int) -> Self? { row.string(at: index) }
}

extension Timestamp: ColumnValue {
    public static var columnType: ColumnType { .timestamp }
    public var value: Value { .timestamp(self) }
    public init?(value: Value) {
        guard let timestamp = value.timestamp else { return nil }
        self = timestamp
    }
    public static func read(_ row: borrowing RowView, at index: Int) -> Self? { row.timestamp(at: index) }
}

extension [UInt8]: ColumnValue {
    public static var columnType: ColumnType { .bytes }
    public var value: Value { .bytes(self) }
    public init?(value: Value) {
        guard let bytes = value.bytes else { return nil }
        self = bytes
    }
}
