/// A type whose values convert to a ``Value``: every ``ColumnValue``, and ``Value`` itself.
///
/// The values of a ``Row`` literal are of this type, so that a literal mixes them:
///
/// ```swift
/// let row: Row = ["id": id, "text": "Buy milk", "due": date, "photo": data, "note": .null]
/// ```
///
/// In an extension of ``Row``, the name `Value` refers to this type. Write `TidelineStore.Value` for ``Value``.
public protocol ValueConvertible: Sendable {
    /// The stored form.
    var columnValue: Value { get }
}

/// A Swift type whose values a column can hold, and over which ``Column`` is generic.
///
/// The types are `Bool`, `Int`, `Int64`, `Double`, `Float`, `String`, ``Timestamp``, `[UInt8]`, `Date`, `Data`, `UUID`,
/// `URL`, and optionals of these types. A `RawRepresentable` type with such a raw value conforms by declaration:
///
/// ```swift
/// enum Priority: Int, ColumnValue { case low, high }
/// ```
public protocol ColumnValue: ValueConvertible {
    /// The type of a column that holds such values.
    static var columnType: ColumnType { get }
    /// Creates a value from its stored form, or `nil` if that is null, of another type, or out of range.
    init?(columnValue: Value)
    /// Reads the column at the given position of a row, or returns `nil` if it is null, absent, or of another type.
    ///
    /// The default implementation uses ``init(columnValue:)``. Types that a row can return directly read it without a
    /// ``Value``.
    static func readColumn(_ row: borrowing RowView, at index: Int) -> Self?
}

extension ColumnValue {
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? {
        guard let value = row.value(at: index) else { return nil }
        return Self(columnValue: value)
    }
}

extension Bool: ColumnValue {
    public static var columnType: ColumnType { .bool }
    public var columnValue: Value { .bool(self) }
    public init?(columnValue value: Value) { if let bool = value.bool { self = bool } else { return nil } }
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? { row.bool(at: index) }
}

extension Int64: ColumnValue {
    public static var columnType: ColumnType { .int }
    public var columnValue: Value { .int(self) }
    public init?(columnValue value: Value) { if let int = value.int { self = int } else { return nil } }
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? { row.int(at: index) }
}

extension Int: ColumnValue {
    public static var columnType: ColumnType { .int }
    public var columnValue: Value { .int(Int64(self)) }
    public init?(columnValue value: Value) {
        guard let int = value.int, let narrowed = Int(exactly: int) else { return nil }
        self = narrowed
    }
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? {
        row.int(at: index).flatMap { Int(exactly: $0) }
    }
}

extension Double: ColumnValue {
    public static var columnType: ColumnType { .double }
    public var columnValue: Value { .double(self) }
    public init?(columnValue value: Value) { if let double = value.double { self = double } else { return nil } }
}

extension String: ColumnValue {
    public static var columnType: ColumnType { .string }
    public var columnValue: Value { .string(self) }
    public init?(columnValue value: Value) { if let string = value.string { self = string } else { return nil } }
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? { row.string(at: index) }
}

extension Timestamp: ColumnValue {
    public static var columnType: ColumnType { .timestamp }
    public var columnValue: Value { .timestamp(self) }
    public init?(columnValue value: Value) {
        guard let timestamp = value.timestamp else { return nil }
        self = timestamp
    }
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? { row.timestamp(at: index) }
}

extension [UInt8]: ValueConvertible {
    public var columnValue: Value { .bytes(self) }
}

extension [UInt8]: ColumnValue {
    public static var columnType: ColumnType { .bytes }
    public init?(columnValue value: Value) { if let bytes = value.bytes { self = bytes } else { return nil } }
}

extension Float: ColumnValue {
    public static var columnType: ColumnType { .double }
    public var columnValue: Value { .double(Double(self)) }
    /// Creates the nearest value to a double, or `nil` if that is beyond the greatest `Float`.
    public init?(columnValue value: Value) {
        guard let double = value.double else { return nil }
        self = Float(double)
        if isInfinite, double.isFinite { return nil }
    }
}

// MARK: - Types made of others

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    public static var columnType: ColumnType { RawValue.columnType }
    public var columnValue: Value { rawValue.columnValue }
    public init?(columnValue value: Value) {
        guard let rawValue = RawValue(columnValue: value) else { return nil }
        self.init(rawValue: rawValue)
    }
}

extension Optional: ValueConvertible where Wrapped: ColumnValue {
    /// The stored form, which is null for `nil`.
    public var columnValue: Value { self?.columnValue ?? .null }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    public static var columnType: ColumnType { Wrapped.columnType }
    /// Creates a value from its stored form: `nil` from null.
    public init?(columnValue value: Value) {
        guard !value.isNull else {
            self = nil
            return
        }
        guard let wrapped = Wrapped(columnValue: value) else { return nil }
        self = wrapped
    }
}

extension Value: ValueConvertible {
    public var columnValue: Value { self }
}

// Allows `.null` and `.int(1)` in the literal of a row. Everywhere else, the cases of `Value` take precedence.
extension ValueConvertible where Self == Value {
    /// A stored null.
    @_disfavoredOverload
    public static var null: Value { Value.null }
    /// A Boolean value.
    @_disfavoredOverload
    public static func bool(_ value: Bool) -> Value { Value.bool(value) }
    /// A 64-bit integer.
    @_disfavoredOverload
    public static func int(_ value: Int64) -> Value { Value.int(value) }
    /// A 64-bit integer. The value must not exceed 64 bits.
    @_disfavoredOverload
    public static func int(_ value: some BinaryInteger) -> Value { Value.int(Int64(value)) }
    /// An IEEE 754 double.
    @_disfavoredOverload
    public static func double(_ value: Double) -> Value { Value.double(value) }
    /// Text.
    @_disfavoredOverload
    public static func string(_ value: String) -> Value { Value.string(value) }
    /// An instant.
    @_disfavoredOverload
    public static func timestamp(_ value: Timestamp) -> Value { Value.timestamp(value) }
    /// Bytes.
    @_disfavoredOverload
    public static func bytes(_ value: [UInt8]) -> Value { Value.bytes(value) }
    /// The text of a JSON array or object.
    @_disfavoredOverload
    public static func json(_ value: String) -> Value { Value.json(value) }
}
