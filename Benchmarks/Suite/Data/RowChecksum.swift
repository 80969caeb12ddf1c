public import TidelineStore

/// What the rows that were read held, as one number, so that each value must be read and the answers of all subjects can be
/// compared: the sum, over the rows, of each row's number; wrapping.
///
/// A row's number begins with its id as bytes and goes on with each column in order. Bytes, text and JSON give their length
/// plus 256 × their first plus 65,536 × their last byte (0 when empty); an integer and a timestamp (ticks) themselves; a
/// double its bits; true 1, false 2; null 3. After each, id included, the number is `(number ^ value) × 0x100000001B3`,
/// wrapping.
public enum RowChecksum {
    /// Where a row's number begins.
    public static let start: UInt64 = 0xCBF2_9CE4_8422_2325
    /// What null counts as.
    public static let null: UInt64 = 3

    /// Mixes one value into a row's number.
    @inlinable
    public static func mix(_ number: inout UInt64, _ value: UInt64) {
        number = (number ^ value) &* 0x100_0000_01B3
    }

    /// What bytes and text count as.
    @inlinable
    public static func value(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        guard let first = bytes.first, let last = bytes.last else { return 0 }
        return UInt64(bytes.count) &+ UInt64(first) << 8 &+ UInt64(last) << 16
    }

    /// What a text counts as.
    @inlinable
    public static func value(of text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { value(of: UnsafeRawBufferPointer($0)) }
    }

    /// What a truth value counts as.
    @inlinable
    public static func value(of bool: Bool) -> UInt64 { bool ? 1 : 2 }

    /// What an integer counts as.
    @inlinable
    public static func value(of integer: Int64) -> UInt64 { UInt64(bitPattern: integer) }

    /// What any value counts as; one that is absent as null does.
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

    /// What a value counts as where it lies.
    @inlinable
    @inline(__always)
    public static func value(of value: BorrowedValue) -> UInt64 {
        switch value {
        case .absent, .null: null
        case .bool(let bool): self.value(of: bool)
        case .int(let integer): self.value(of: integer)
        case .double(let double): double.bitPattern
        case .timestamp(let instant): self.value(of: instant.ticks)
        case .string(let bytes), .bytes(let bytes), .json(let bytes): self.value(of: bytes)
        }
    }

    /// A row's number, from its id and the values of its columns in order.
    public static func number(id: RowID, values: [Value]) -> UInt64 {
        var number = start
        mix(&number, value(of: id.value))
        for value in values { mix(&number, self.value(of: value)) }
        return number
    }
}
