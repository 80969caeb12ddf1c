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
/// The types are `Bool`, all integers of up to 64 bits, `Double`, `Float`, `String`, ``Timestamp``, `[UInt8]`, `Date`,
/// `Data`, `UUID`, `URL`, ``ID``, and optionals of these types. Arrays, sets, and dictionaries of such `Codable` values
/// are JSON. A `RawRepresentable` type with such a raw value and a `Codable` type conform by declaration:
///
/// ```swift
/// enum Priority: Int, ColumnValue { case low, high }
/// struct Address: JSONColumnValue { var street: String }
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
    /// Sets the column at the given position of the row under construction to this value.
    ///
    /// The default implementation sets ``ValueConvertible/columnValue``. A type throws an error for a value that has no
    /// stored form.
    func writeColumn(to rows: inout PackedRows, at index: Int) throws
}

extension ColumnValue {
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? {
        guard let value = row.value(at: index) else { return nil }
        return Self(columnValue: value)
    }

    public func writeColumn(to rows: inout PackedRows, at index: Int) throws { rows.set(columnValue, at: index) }
}

extension Bool: ColumnValue {
    public static var columnType: ColumnType { .bool }
    public var columnValue: Value { .bool(self) }
    public init?(columnValue value: Value) { if let bool = value.bool { self = bool } else { return nil } }
    @inlinable
    @inline(__always)
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? { row.bool(at: index) }
    @inlinable
    public func writeColumn(to rows: inout PackedRows, at index: Int) { rows.setBool(self, at: index) }
}

extension ColumnValue where Self: FixedWidthInteger {
    public static var columnType: ColumnType { .int }
    /// The integer. One beyond the range of 64 bits with a sign becomes a double, which compares correctly with every
    /// stored integer and cannot be stored in a column of type int.
    public var columnValue: Value { Int64(exactly: self).map { .int($0) } ?? .double(Double(self)) }
    /// Creates the integer, or `nil` if it is out of range.
    public init?(columnValue value: Value) {
        guard let int = value.int, let narrowed = Self(exactly: int) else { return nil }
        self = narrowed
    }
    @inlinable
    @inline(__always)
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? {
        row.int(at: index).flatMap { Self(exactly: $0) }
    }
    @inlinable
    public func writeColumn(to rows: inout PackedRows, at index: Int) {
        if let int = Int64(exactly: self) { rows.setInt(int, at: index) } else { rows.set(columnValue, at: index) }
    }
}

extension Int: ColumnValue {}
extension Int8: ColumnValue {}
extension Int16: ColumnValue {}
extension Int32: ColumnValue {}
extension Int64: ColumnValue {}
extension UInt: ColumnValue {}
extension UInt8: ColumnValue {}
extension UInt16: ColumnValue {}
extension UInt32: ColumnValue {}
extension UInt64: ColumnValue {}

extension Double: ColumnValue {
    public static var columnType: ColumnType { .double }
    public var columnValue: Value { .double(self) }
    public init?(columnValue value: Value) { if let double = value.double { self = double } else { return nil } }
    @inlinable
    @inline(__always)
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? {
        row.double(at: index) ?? row.int(at: index).flatMap { Self(exactly: $0) }
    }
    @inlinable
    public func writeColumn(to rows: inout PackedRows, at index: Int) { rows.setDouble(self, at: index) }
}

extension String: ColumnValue {
    public static var columnType: ColumnType { .string }
    public var columnValue: Value { .string(self) }
    public init?(columnValue value: Value) { if let string = value.string { self = string } else { return nil } }
    @inlinable
    @inline(__always)
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? { row.string(at: index) }
    public func writeColumn(to rows: inout PackedRows, at index: Int) {
        let isSet: Void? = unsafe utf8.withContiguousStorageIfAvailable {
            unsafe rows.setBytes(UnsafeRawBufferPointer($0), as: .string, at: index)
        }
        guard isSet == nil else { return }
        // Only a string of Objective-C has no contiguous bytes.
        var text = self
        text.withUTF8 { unsafe rows.setBytes(UnsafeRawBufferPointer($0), as: .string, at: index) }
    }
}

extension Timestamp: ColumnValue {
    public static var columnType: ColumnType { .timestamp }
    public var columnValue: Value { .timestamp(self) }
    public init?(columnValue value: Value) {
        guard let timestamp = value.timestamp else { return nil }
        self = timestamp
    }
    @inlinable
    @inline(__always)
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? { row.timestamp(at: index) }
    @inlinable
    public func writeColumn(to rows: inout PackedRows, at index: Int) { rows.setTimestamp(self, at: index) }
}

extension Float: ColumnValue {
    public static var columnType: ColumnType { .double }
    /// The double with the fewest decimal digits that is this value: 0.1 becomes 0.1, as servers store it, and not
    /// 0.10000000149011612.
    public var columnValue: Value { .double(shortestDouble) }
    var shortestDouble: Double {
        guard let double = Double(description), Float(double) == self else { return Double(self) }
        return double
    }
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
    @inlinable
    @inline(__always)
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? {
        RawValue.readColumn(row, at: index).flatMap { Self(rawValue: $0) }
    }
    @inlinable
    public func writeColumn(to rows: inout PackedRows, at index: Int) throws {
        try rawValue.writeColumn(to: &rows, at: index)
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
    /// Reads the column: `.some(nil)` if it is null or absent, and `nil` if the value is of another type.
    @inlinable
    @inline(__always)
    public static func readColumn(_ row: borrowing RowView, at index: Int) -> Self? {
        if row.isNull(at: index) { return .some(nil) }
        guard let wrapped = Wrapped.readColumn(row, at: index) else { return nil }
        return .some(wrapped)
    }
    @inlinable
    public func writeColumn(to rows: inout PackedRows, at index: Int) throws {
        if let wrapped = self { try wrapped.writeColumn(to: &rows, at: index) } else { rows.setNull(at: index) }
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
