/// The packed format of one row, which ``PackedRows`` contains and key-value stores write unchanged.
///
/// | bytes | content |
/// |---|---|
/// | 1 | format: 1 = narrow (16-bit offsets), 2 = wide (32-bit offsets) |
/// | 1 | zero |
/// | 2 | number of columns *n* |
/// | 4 | shape identifier, for stores that keep several shapes of a table; zero in a batch |
/// | *n* | a ``RowTag`` per column |
/// | 2*n* or 4*n* | end of each column's bytes in the payload; its start is the end of the previous column |
/// | … | payload: 8 bytes for int, double, and timestamp; the bytes of strings, bytes, and JSON; nothing for others |
///
/// Numbers are little-endian and unaligned. The row's identifier is not included, because it is stored as the key.
@usableFromInline
package enum RowFormat {
    @inlinable package static var narrow: UInt8 { 1 }
    @inlinable package static var wide: UInt8 { 2 }
    @inlinable package static var headerSize: Int { 8 }
    static let maximumNarrowPayload = Int(UInt16.max)
    static let maximumWidePayload = Int(clamping: UInt32.max)

    @inlinable
    package static func payloadOffset(columns: Int, wide: Bool) -> Int {
        headerSize &+ columns &+ columns &* (wide ? 4 : 2)
    }
}

/// The type of a value in a packed row, extended by the value of a bool and absence.
public enum RowTag: UInt8, Sendable {
    /// The column is absent: an upsert keeps the stored value.
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

    static let all = (RowTag.absent.rawValue...RowTag.json.rawValue).compactMap(RowTag.init)

    /// Returns whether a value with this tag can be stored in a column of `type`. Null and absent fit any type.
    package func fits(_ type: ColumnType) -> Bool {
        self.type == nil || self.type == type
    }

    /// The type of the value, or `nil` for null and absent.
    package var type: ColumnType? {
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

/// The tags and value lengths that are valid for a column of one type.
struct TagRule: Sendable {
    private let tags: TagSet
    /// The length of values whose tag has bytes; negative if any length is valid.
    private let length: Int

    /// The last of the tags whose values have no bytes: absent, null, false, and true.
    private static let withoutBytes: UInt8 = RowTag.true.rawValue

    init(_ type: ColumnType) {
        tags = TagSet(of: type)
        length = type == .bool ? 0 : type.isWord ? 8 : -1
    }

    /// Returns whether the tag is valid for a column of the type.
    @inline(__always)
    func allows(_ tag: RowTag) -> Bool { tags.contains(tag: tag.rawValue) }

    /// Returns whether a tag's raw value is valid for a value of the given length.
    @inline(__always)
    func allows(_ tag: UInt8, length found: Int) -> Bool {
        guard tags.contains(tag: tag) else { return false }
        return tag <= Self.withoutBytes ? found == 0 : length < 0 ? found >= 0 : found == length
    }
}

/// A set of tags of packed values.
@usableFromInline
package struct TagSet: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt16
    /// The tags of values that are null or absent.
    @inlinable package static var null: TagSet {
        TagSet(rawValue: 1 << RowTag.null.rawValue | 1 << RowTag.absent.rawValue)
    }

    @inlinable package init(rawValue: UInt16) { self.rawValue = rawValue }
    package init(_ tag: RowTag) { rawValue = 1 << tag.rawValue }

    /// The valid tags of a column of the given type.
    package init(of type: ColumnType) {
        self = RowTag.all.reduce(into: []) { if $1.fits(type) { $0.insert(Self($1)) } }
    }

    /// The tags of the values that a row stores in a column.
    package init(storedIn column: ColumnSchema) {
        self.init(of: column.type)
        remove(Self(.absent))
        if !column.isOptional { remove(Self(.null)) }
    }

    /// Whether the set contains the tag with the given raw value.
    @inlinable
    @inline(__always)
    package func contains(tag: UInt8) -> Bool { tag < 16 && rawValue &>> UInt16(tag) & 1 == 1 }
}

extension UnsafeRawBufferPointer {
    /// The number that these eight bytes of a packed row or identifier represent.
    @inlinable
    @inline(__always)
    var word: Int64 { unsafe Int64(littleEndian: loadUnaligned(as: Int64.self)) }
}
