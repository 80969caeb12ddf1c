/// The primary key of a row: a string in the app's tables, an integer in some system tables.
///
/// The table's ``TableSchema/IDMatching`` defines how two string identifiers compare; `==` compares them byte by byte.
public enum RowID: Sendable, Hashable {
    /// A string identifier of 1 to 255 Unicode scalars.
    case string(String)
    /// An integer identifier, for tables declared with ``TableSchema/IDType/int``.
    case int(Int64)

    /// The identifier as text; an integer in decimal.
    public var text: String {
        switch self {
        case .string(let text): text
        case .int(let number): String(number)
        }
    }

    /// The identifier as a value, as predicates see it in the column `id`.
    public var value: Value {
        switch self {
        case .string(let text): .string(text)
        case .int(let number): .int(number)
        }
    }

    /// The type of the identifier.
    public var type: TableSchema.IDType {
        switch self {
        case .string: .string
        case .int: .int
        }
    }

    /// Calls `body` with the identifier's bytes in a packed row: UTF-8, or eight little-endian bytes.
    func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        switch self {
        case .string(var text): try text.withUTF8 { try unsafe body(UnsafeRawBufferPointer($0)) }
        case .int(let number): try unsafe withUnsafeBytes(of: number.littleEndian) { try unsafe body($0) }
        }
    }

    public static func == (a: RowID, b: RowID) -> Bool {
        switch (a, b) {
        case (.string(let x), .string(let y)): x.isSameBytes(as: y)
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

extension String {
    /// The string with `A`–`Z` replaced by `a`–`z` and nothing else changed.
    ///
    /// Identifiers compare in this form under ``TableSchema/IDMatching/asciiCaseInsensitive``, and `lower` in a query
    /// returns it.
    package var asciiLowercased: String {
        // Most strings are contiguous, and then without a call for each byte.
        let isMixed = unsafe utf8.withContiguousStorageIfAvailable { bytes in
            var found = false
            for index in bytes.indices where unsafe bytes[index] &- 0x41 < 26 { found = true }
            return found
        }
        guard isMixed ?? utf8.contains(where: { $0 &- 0x41 < 26 }) else { return self }
        return String(decoding: utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The string with `a`–`z` replaced by `A`–`Z` and nothing else changed, as `upper` in a query returns it.
    package var asciiUppercased: String {
        guard utf8.contains(where: { $0 &- 0x61 < 26 }) else { return self }
        return String(decoding: utf8.map { $0 &- 0x61 < 26 ? $0 & 0xDF : $0 }, as: UTF8.self)
    }
}
