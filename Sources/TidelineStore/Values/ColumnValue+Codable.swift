/// A `Codable` type that a column stores as JSON: `struct Address: JSONColumnValue { var street: String }`.
///
/// The value must be encoded as an array or an object. Instants are ISO 8601 text, and the members of an object are
/// sorted. Arrays, sets, and dictionaries of column values that are `Codable` need no declaration; the elements of a
/// set are sorted by their text. A set that is a property of another value is not sorted: its text may change although
/// the value is the same, which is then stored and sent. Use an array there.
public protocol JSONColumnValue: ColumnValue, Codable {}

extension JSONColumnValue {
    public static var columnType: ColumnType { .json }
    /// The value as JSON. A value that has no JSON form becomes an empty text, which a sync client rejects and a store
    /// keeps. ``RecordWriter/write(_:to:)`` throws an error for such a value instead.
    public var columnValue: TidelineStore.Value { jsonValue }
    public init?(columnValue value: TidelineStore.Value) { self.init(json: value) }
    public func writeColumn(to rows: inout PackedRows, at index: Int) throws {
        rows.set(.json(try NestedJSON.encode(self)), at: index)
    }
}

// The stored form of `Codable` values.
extension ColumnValue where Self: Codable {
    fileprivate var jsonValue: TidelineStore.Value { .json((try? NestedJSON.encode(self)) ?? "") }

    fileprivate init?(json value: TidelineStore.Value) {
        guard let decoded = value.json.flatMap({ try? NestedJSON.decode(Self.self, from: $0) }) else { return nil }
        self = decoded
    }
}

extension Array: ValueConvertible where Element: ColumnValue & Codable {
    /// The stored form: bytes for an array of bytes, and JSON for any other.
    public var columnValue: TidelineStore.Value {
        if let bytes = self as? [UInt8], Element.self == UInt8.self {
            .bytes(bytes)
        } else {
            jsonValue
        }
    }
}

extension Array: ColumnValue where Element: ColumnValue & Codable {
    public static var columnType: ColumnType { Element.self == UInt8.self ? .bytes : .json }
    public init?(columnValue value: TidelineStore.Value) {
        let found = Element.self == UInt8.self ? value.bytes as? [Element] : Self(json: value)
        guard let found else { return nil }
        self = found
    }
    public func writeColumn(to rows: inout PackedRows, at index: Int) throws {
        rows.set(Element.self == UInt8.self ? columnValue : .json(try NestedJSON.encode(self)), at: index)
    }
}

extension Set: ValueConvertible where Element: ColumnValue & Codable {
    public var columnValue: TidelineStore.Value { jsonValue }
}

extension Set: ColumnValue where Element: ColumnValue & Codable {
    public static var columnType: ColumnType { .json }
    public init?(columnValue value: TidelineStore.Value) { self.init(json: value) }
    public func writeColumn(to rows: inout PackedRows, at index: Int) throws {
        rows.set(.json(try NestedJSON.encode(self)), at: index)
    }
}

extension Dictionary: ValueConvertible where Key: ColumnValue & Codable, Value: ColumnValue & Codable {
    public var columnValue: TidelineStore.Value { jsonValue }
}

extension Dictionary: ColumnValue where Key: ColumnValue & Codable, Value: ColumnValue & Codable {
    public static var columnType: ColumnType { .json }
    public init?(columnValue value: TidelineStore.Value) { self.init(json: value) }
    public func writeColumn(to rows: inout PackedRows, at index: Int) throws {
        rows.set(.json(try NestedJSON.encode(self)), at: index)
    }
}
