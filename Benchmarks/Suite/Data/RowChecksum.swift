#if Commands
public import TidelineStore

/// The checksum of the rows that work reads: it forces every value to be read, and makes the answers of subjects
/// comparable.
///
/// The checksum of several rows is the wrapping sum of their row numbers. A row number starts at ``start`` and mixes in
/// the identifier, then each column in order, with `number = (number ^ value) × 0x100000001B3`, wrapping. The value of
/// bytes, text and JSON is the length + 256 × the first byte + 65,536 × the last byte (0 if empty); of an integer and a
/// timestamp (in ticks) the number itself; of a double its bit pattern; of `true` 1, of `false` 2, and of null 3.
public enum RowChecksum {
    /// The initial row number.
    public static let start: UInt64 = 0xCBF2_9CE4_8422_2325
    /// The value of null.
    public static let null: UInt64 = 3

    /// Mixes a value into a row number.
    @inlinable
    public static func mix(_ number: inout UInt64, _ value: UInt64) {
        number = (number ^ value) &* 0x100_0000_01B3
    }

    /// The value of bytes.
    @inlinable
    public static func value(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let first = bytes.first, let last = bytes.last else { return 0 }
        return UInt64(bytes.count) &+ UInt64(first) << 8 &+ UInt64(last) << 16
    }

    /// The value of a text.
    @inlinable
    public static func value(of text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { value(of: UnsafeRawBufferPointer($0)) }
    }

    /// The value of a Boolean.
    @inlinable
    public static func value(of bool: Bool) -> UInt64 { bool ? 1 : 2 }

    /// The value of an integer.
    @inlinable
    public static func value(of integer: Int64) -> UInt64 { UInt64(bitPattern: integer) }

    /// The value of any column value; an absent value counts as null.
    public static func value(of value: Value?) -> UInt64 {
        switch value {
        case nil, .null: null
        case .bool(let bool): self.value(of: bool)
        case .int(let integer): self.value(of: integer)
        case .double(let double): double.bitPattern
        case .string(let text), .json(let text): self.value(of: text)
        case .timestamp(let instant): self.value(of: instant.ticks)
        case .bytes(let bytes): bytes.withUnsafeBytes { self.value(of: $0) }
        }
    }

    /// The value of a borrowed column value.
    @inlinable
    @inline(__always)
    public static func value(of value: RowView.BorrowedValue) -> UInt64 {
        switch value {
        case .absent, .null: null
        case .bool(let bool): self.value(of: bool)
        case .int(let integer): self.value(of: integer)
        case .double(let double): double.bitPattern
        case .timestamp(let instant): self.value(of: instant.ticks)
        case .string(let bytes), .bytes(let bytes), .json(let bytes): self.value(of: bytes)
        }
    }

    /// The row number of a row with the given identifier and column values.
    public static func number(id: RowID, values: [Value]) -> UInt64 {
        var number = start
        mix(&number, value(of: id.value))
        for value in values { mix(&number, self.value(of: value)) }
        return number
    }
}
#endif
