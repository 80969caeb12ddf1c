internal import TidelineStore

/// Puts keys together so that they compare, byte by byte, as a query orders what they stand for.
///
/// A key is its space, then components, then the id of a row:
///
/// | part | bytes |
/// |---|---|
/// | space | 4, big-endian |
/// | component: null | `01` |
/// | component: NaN | `02` |
/// | component: bool | `03`, then `00` or `01` |
/// | component: int, timestamp | `03`, then 8, big-endian, the sign's bit flipped |
/// | component: double | `03`, then 8, big-endian, all bits flipped of a negative, the sign's of others; −0.0 is 0.0 |
/// | component: string, bytes, JSON | `03`, its bytes with `00` written `00 FF`, then `00 01` |
/// | component, descending | the same, every bit flipped |
/// | id | the bytes of the text, folded where the table's ids are; or 8 as an int's, without the `03` |
///
/// Components end by themselves, so that none reaches into the next; the id is the last part and needs no end. A column
/// has one type, so that types need no order among each other.
struct KeyBuilder {
    /// The key so far.
    private(set) var bytes: [UInt8]

    /// A key of that space.
    init(_ space: KeySpace) {
        bytes = []
        bytes.reserveCapacity(64)
        begin(space)
    }

    /// A sort key, which needs no space.
    init() { bytes = [] }

    /// Drops the key and begins another, in the same memory.
    mutating func begin(_ space: KeySpace) {
        bytes.removeAll(keepingCapacity: true)
        withUnsafeBytes(of: space.number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    /// Drops the key; a sort key follows.
    mutating func begin() { bytes.removeAll(keepingCapacity: true) }

    /// Drops what was added after the key had `count` bytes.
    mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

    // MARK: Ids

    /// Adds the id of a row, given as a ``RowView`` has it: UTF-8, or eight little-endian bytes.
    mutating func append(id: UnsafeRawBufferPointer, of ids: IDRule) {
        switch ids {
        case .exact: bytes.append(contentsOf: id)
        case .folded:
            bytes.append(contentsOf: id)
            fold(from: bytes.count - id.count)
        case .int: append(word: Self.ordered(Int64(littleEndian: id.loadUnaligned(as: Int64.self))))
        }
    }

    /// Adds an id; one of another type than the table's adds nothing and returns false.
    mutating func append(id: RowID, of ids: IDRule) -> Bool {
        guard id.type == ids.type else { return false }
        switch id {
        case .string(var text): text.withUTF8 { append(id: UnsafeRawBufferPointer($0), of: ids) }
        case .int(let number): append(word: Self.ordered(number))
        }
        return true
    }

    /// The integer of an id's eight bytes in a key.
    static func int(fromID bytes: UnsafeRawBufferPointer) -> Int64 {
        Int64(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) ^ 1 << 63)
    }

    // MARK: Components

    /// Adds a value as a component.
    mutating func append(_ value: Value, descending: Bool = false) {
        let start = bytes.count
        switch value {
        case .null: bytes.append(Mark.null)
        case .bool(let value): append(bool: value)
        case .int(let value): append(component: Self.ordered(value))
        case .timestamp(let value): append(component: Self.ordered(value.ticks))
        case .double(let value): append(double: value)
        case .string(var text), .json(var text): text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
        case .bytes(let value): value.withUnsafeBytes { append(text: $0) }
        }
        if descending { invert(from: start) }
    }

    /// Adds the value of a row's column as a component; absent counts as null.
    mutating func append(column index: Int, of row: borrowing RowView, descending: Bool = false) {
        let start = bytes.count
        switch row.tag(at: index) {
        case .absent, .null: bytes.append(Mark.null)
        case .false: append(bool: false)
        case .true: append(bool: true)
        case .int, .timestamp:
            append(component: Self.ordered(Int64(littleEndian: row.bytes(at: index).loadUnaligned(as: Int64.self))))
        case .double: append(double: row.double(at: index) ?? .nan)
        case .string, .bytes, .json: append(text: row.bytes(at: index))
        }
        if descending { invert(from: start) }
    }

    /// Adds the id as a component, so that others may follow it.
    mutating func append(idComponent id: UnsafeRawBufferPointer, of ids: IDRule, descending: Bool = false) {
        let start = bytes.count
        switch ids {
        case .int: append(component: Self.ordered(Int64(littleEndian: id.loadUnaligned(as: Int64.self))))
        case .exact: append(text: id)
        case .folded:
            append(text: id)
            fold(from: start)
        }
        if descending { invert(from: start) }
    }

    /// Adds the beginning of a component: what all texts have in common that begin with `text`.
    mutating func append(beginningOf text: UnsafeRawBufferPointer) {
        bytes.append(Mark.value)
        appendEscaped(text)
    }

    /// The length of the component that begins at `start`; nil when the bytes are none.
    ///
    /// - Parameter type: The type of the column.
    static func componentLength(
        in key: UnsafeRawBufferPointer, at start: Int, type: ColumnType
    ) -> Int? {
        guard start < key.count else { return nil }
        guard key[start] == Mark.value else {
            return key[start] == Mark.null || key[start] == Mark.notANumber ? 1 : nil
        }
        switch type {
        case .bool: return start + 2 <= key.count ? 2 : nil
        case .int, .timestamp, .double: return start + 9 <= key.count ? 9 : nil
        case .string, .bytes, .json:
            // Most texts have no zero but that which ends them.
            if let end = key.firstZero(from: start + 1), end + 1 < key.count, key[end + 1] == 1 {
                return end + 2 - start
            }
            var index = start + 1
            while index + 1 < key.count {
                guard key[index] == 0 else {
                    index += 1
                    continue
                }
                if key[index + 1] == 1 { return index + 2 - start }
                index += 2
            }
            return nil
        }
    }

    // MARK: Pieces

    /// The first byte of a component.
    enum Mark {
        static let null: UInt8 = 1
        static let notANumber: UInt8 = 2
        static let value: UInt8 = 3
    }

    private mutating func append(bool: Bool) {
        bytes.append(Mark.value)
        bytes.append(bool ? 1 : 0)
    }

    private mutating func append(component word: UInt64) {
        bytes.append(Mark.value)
        append(word: word)
    }

    private mutating func append(word: UInt64) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(double value: Double) {
        guard !value.isNaN else {
            bytes.append(Mark.notANumber)
            return
        }
        let bits = (value == 0 ? 0.0 : value).bitPattern
        append(component: bits >> 63 == 1 ? ~bits : bits | 1 << 63)
    }

    private mutating func append(text: UnsafeRawBufferPointer) {
        bytes.append(Mark.value)
        appendEscaped(text)
        bytes.append(0)
        bytes.append(1)
    }

    private mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
        guard text.hasZero else {
            bytes.append(contentsOf: text)
            return
        }
        for byte in text {
            bytes.append(byte)
            if byte == 0 { bytes.append(0xFF) }
        }
    }

    /// Makes `A`–`Z` `a`–`z`; no other byte of a component is one of theirs.
    private mutating func fold(from start: Int) {
        bytes.withUnsafeMutableBytes { bytes in
            // Without a branch, so that many bytes are folded at once.
            for index in start..<bytes.count { bytes[index] |= bytes[index] &- 0x41 < 26 ? 0x20 : 0 }
        }
    }

    private mutating func invert(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }

    /// The bits of an integer that compare as it does when they are compared as bytes, big-endian.
    static func ordered(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ 1 << 63 }
}

/// How the ids of a table stand in keys.
enum IDRule: Sendable {
    /// Byte for byte.
    case exact
    /// With `A`–`Z` made `a`–`z`.
    case folded
    /// As 64-bit integers.
    case int

    init(_ schema: TableSchema) {
        switch (schema.idType, schema.idMatching) {
        case (.int, _): self = .int
        case (.string, .exact): self = .exact
        case (.string, .asciiCaseInsensitive): self = .folded
        }
    }

    var type: IDType { self == .int ? .int : .string }
}
