/// The packed format of one row: what ``PackedRows`` holds and key-value stores write as it is.
///
/// | bytes | content |
/// |---|---|
/// | 1 | format: 1 = narrow (16-bit offsets), 2 = wide (32-bit offsets) |
/// | 1 | zero |
/// | 2 | number of columns *n* |
/// | 4 | shape id, for stores that keep several shapes of a table; zero in a batch |
/// | *n* | a ``RowTag`` per column |
/// | 2*n* or 4*n* | end of each column's bytes in the payload; its start is the end of the column before |
/// | … | payload: int, double and timestamp as 8 bytes, strings, bytes and JSON as they are, others nothing |
///
/// Numbers are little-endian and unaligned. The id is not part of it: it is the key beside the row.
@usableFromInline
package enum RowFormat {
    @inlinable package static var narrow: UInt8 { 1 }
    @inlinable package static var wide: UInt8 { 2 }
    @inlinable package static var headerSize: Int { 8 }
    static let maximumNarrowPayload = Int(UInt16.max)
    static let maximumWidePayload = Int(UInt32.max)

    package static func payloadOffset(columns: Int, wide: Bool) -> Int {
        headerSize + columns + columns * (wide ? 4 : 2)
    }
}

/// The type of a value in a packed row, with what a bool's bit and an absent column need.
public enum RowTag: UInt8, Sendable {
    /// The row does not name the column: an upsert keeps what is stored.
    case absent = 0
    case null = 1
    case `false` = 2
    case `true` = 3
    case int = 4
    case double = 5
    case string = 6
    case timestamp = 7
    case bytes = 8
    case json = 9

    /// Whether a value of this tag may stand in a column of `type`; null and absent may in any.
    public func fits(_ type: ColumnType) -> Bool {
        switch (self, type) {
        case (.absent, _), (.null, _), (.false, .bool), (.true, .bool), (.int, .int), (.double, .double),
            (.string, .string), (.timestamp, .timestamp), (.bytes, .bytes), (.json, .json):
            true
        default: false
        }
    }

    /// The type of the value, nil for null and absent.
    public var type: ColumnType? {
        switch self {
        case .absent, .null: nil
        case .false, .true: .bool
        case .int: .int
        case .double: .double
        case .string: .string
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .json: .json
        }
    }
}

/// What tags a column of some type may have, and how long its values are.
struct TagRule: Sendable {
    /// A bit for each raw value of a tag that fits.
    private let tags: UInt32
    /// The length of a value of those tags that have one; below zero when any will do.
    private let length: Int

    /// The tags whose values have no bytes: absent, null, false and true.
    private static let withoutBytes: UInt8 = RowTag.true.rawValue

    init(_ type: ColumnType) {
        tags = (0...RowTag.json.rawValue).reduce(0) { tags, value in
            RowTag(rawValue: value)?.fits(type) == true ? tags | 1 << UInt32(value) : tags
        }
        switch type {
        case .bool: length = 0
        case .int, .double, .timestamp: length = 8
        case .string, .bytes, .json: length = -1
        }
    }

    /// Whether a column of the type may have the tag.
    @inline(__always)
    func allows(_ tag: RowTag) -> Bool { tags >> UInt32(tag.rawValue) & 1 == 1 }

    /// Whether a value of so many bytes may have the tag with that raw value.
    @inline(__always)
    func allows(_ tag: UInt8, length found: Int) -> Bool {
        guard tag < 32, tags >> UInt32(tag) & 1 == 1 else { return false }
        return tag <= Self.withoutBytes ? found == 0 : length < 0 ? found >= 0 : found == length
    }
}
