/// The primary key of a row: text in tables of the app, an integer in some system tables.
///
/// How two textual ids compare is up to the table (``IDMatching``); `==` here is byte for byte.
public enum RowID: Sendable, Hashable {
    /// A textual id, 1 to 255 characters.
    case string(String)
    /// An integer id, for tables declared with ``IDType/int``.
    case int(Int64)

    /// The id as text; an integer in decimal.
    public var text: String {
        switch self {
        case .string(let text): text
        case .int(let number): String(number)
        }
    }

    /// The id as a value, as predicates see it under the column name `id`.
    public var value: Value {
        switch self {
        case .string(let text): .string(text)
        case .int(let number): .int(number)
        }
    }

    /// The type of the id.
    public var type: IDType {
        switch self {
        case .string: .string
        case .int: .int
        }
    }

    /// Calls `body` with the id's bytes in a packed row: UTF-8, or eight little-endian bytes.
    func withBytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        switch self {
        case .string(var text): text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
        case .int(let number): withUnsafeBytes(of: number.littleEndian) { body($0) }
        }
    }

    public static func == (a: RowID, b: RowID) -> Bool {
        switch (a, b) {
        case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
        case (.int(let x), .int(let y)): x == y
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

extension RowID: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public var description: String { text }
}

/// The type of a table's primary key.
public enum IDType: String, Sendable, Hashable, Codable {
    /// Text; what the wire protocol knows.
    case string
    /// 64-bit integer, ordered as a number; for tables that never leave the device.
    case int
}

/// How the textual ids of a table compare.
public enum IDMatching: String, Sendable, Hashable, Codable {
    /// `A` and `a` are one id; other characters differ. The spelling stored first stays. The rule of the original SDKs.
    case asciiCaseInsensitive
    /// Byte for byte.
    case exact
}

extension String {
    /// The text with `A`–`Z` made `a`–`z` and nothing else changed: the form in which ids compare under
    /// ``IDMatching/asciiCaseInsensitive``, and what `lower` means in a query.
    public var asciiLowercased: String {
        guard utf8.contains(where: { $0 &- 0x41 < 26 }) else { return self }
        return String(decoding: utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The text with `a`–`z` made `A`–`Z` and nothing else changed: what `upper` means in a query.
    public var asciiUppercased: String {
        guard utf8.contains(where: { $0 &- 0x61 < 26 }) else { return self }
        return String(decoding: utf8.map { $0 &- 0x61 < 26 ? $0 & 0xDF : $0 }, as: UTF8.self)
    }
}
