/// One value of a row.
///
/// A value keeps its type in every store: a bool never comes back as an int, an int never as a double, a timestamp
/// never as text. ``Value/null`` is a value. A column that is absent from a row has no value, which matters to an
/// upsert: it keeps the stored value.
public enum Value: Sendable, Hashable {
    /// A stored null.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// A 64-bit integer, never converted through a double.
    case int(Int64)
    /// An IEEE 754 double. Whether a store accepts NaN and the infinities is one of its capabilities.
    case double(Double)
    /// Text, stored byte for byte: without Unicode normalization, and NUL is allowed.
    case string(String)
    /// An instant with a resolution of 100 ns.
    case timestamp(Timestamp)
    /// Bytes, encoded as base64 text on the wire.
    case bytes([UInt8])
    /// The text of a JSON array or object.
    case json(String)

    /// Whether this is ``null``.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The type, or `nil` for ``null``.
    public var type: ColumnType? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int: .int
        case .double: .double
        case .string: .string
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .json: .json
        }
    }

    /// The text, if this is a string.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The Boolean value, if this is a bool.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, if this is an int.
    public var int: Int64? {
        if case .int(let value) = self { value } else { nil }
    }

    /// The double, if this is a double or an int that a double represents exactly.
    public var double: Double? {
        switch self {
        case .double(let value): value
        case .int(let value): Double(exactly: value)
        default: nil
        }
    }

    /// The instant, if this is a timestamp.
    public var timestamp: Timestamp? {
        if case .timestamp(let value) = self { value } else { nil }
    }

    /// The bytes, if this is a value of type bytes.
    public var bytes: [UInt8]? {
        if case .bytes(let value) = self { value } else { nil }
    }

    /// The JSON text, if this is a JSON value.
    public var json: String? {
        if case .json(let value) = self { value } else { nil }
    }

    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern || x == y
        case (.string(let x), .string(let y)), (.json(let x), .json(let y)): x.isSameBytes(as: y)
        case (.timestamp(let x), .timestamp(let y)): x == y
        case (.bytes(let x), .bytes(let y)): x == y
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(var value), .json(var value):
            value.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .timestamp(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        }
    }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension Value: CustomStringConvertible {
    /// The value for use in messages: strings in quotes, and only the number of bytes for bytes.
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value.debugDescription
        case .timestamp(let value): value.description
        case .bytes(let value): "\(value.count) bytes"
        case .json(let value): value
        }
    }
}

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
