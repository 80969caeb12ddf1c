internal import TidelineStore

/// Builds keys whose byte order is the order in which a query sorts the values.
///
/// A key consists of its space, then components, then the identifier of a row:
///
/// | part | bytes |
/// |---|---|
/// | space | 4, big-endian |
/// | component: null | `01` |
/// | component: NaN | `02` |
/// | component: bool | `03`, then `00` or `01` |
/// | component: int, timestamp | `03`, then 8, big-endian, with the sign bit flipped |
/// | component: double | `03`, then 8, big-endian, with all bits flipped if negative, otherwise the sign bit; −0.0 is
/// 0.0 |
/// | component: string, bytes, JSON | `03`, its bytes with `00` written as `00 FF`, then `00 01` |
/// | component, descending | the same, with every bit flipped |
/// | identifier | the bytes of the text, folded if the table folds identifiers; or 8 as an int's, without the `03` |
///
/// No component is a prefix of another one, and the identifier is last and needs no terminator. A column has one type,
/// so types need no order relative to each other.
struct KeyBuilder {
    /// The key built so far.
    private(set) var bytes: [UInt8]

    init(_ space: KeySpace) {
        bytes = []
        bytes.reserveCapacity(64)
        begin(space)
    }

    /// Creates a sort key, which needs no space.
    init() { bytes = [] }

    /// Removes the key and begins another one, reusing the memory.
    mutating func begin(_ space: KeySpace) {
        bytes.removeAll(keepingCapacity: true)
        unsafe withUnsafeBytes(of: space.number.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// Removes the key and begins a sort key.
    mutating func begin() { bytes.removeAll(keepingCapacity: true) }

    // MARK: Ids

    /// Appends the identifier of a row in the form that ``RowView`` uses: UTF-8, or eight little-endian bytes.
    mutating func append(id: UnsafeRawBufferPointer, of ids: IDRule) {
        switch ids {
        case .exact: unsafe bytes.append(contentsOf: id)
        case .folded:
            unsafe bytes.append(contentsOf: id)
            fold(from: bytes.count - id.count)
        case .int: unsafe append(word: Self.ordered(Int64(littleEndian: id.loadUnaligned(as: Int64.self))))
        }
    }

    /// Appends an identifier, or returns `false` without appending if its type differs from the table's.
    mutating func append(id: RowID, of ids: IDRule) -> Bool {
        guard id.type == ids.type else { return false }
        switch id {
        case .string(var text): text.withUTF8 { unsafe append(id: UnsafeRawBufferPointer($0), of: ids) }
        case .int(let number): append(word: Self.ordered(number))
        }
        return true
    }

    /// Returns the integer represented by the eight bytes of an identifier in a key.
    static func int(fromID bytes: UnsafeRawBufferPointer) -> Int64 {
        unsafe Int64(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) ^ 1 << 63)
    }

    // MARK: Components

    /// Appends a value as a component.
    mutating func append(_ value: Value, descending: Bool = false) {
        let start = bytes.count
        switch value {
        case .null: bytes.append(Mark.null)
        case .bool(let value): append(bool: value)
        case .int(let value): append(component: Self.ordered(value))
        case .timestamp(let value): append(component: Self.ordered(value.ticks))
        case .double(let value): append(double: value)
        case .string(var text), .json(var text): text.withUTF8 { unsafe append(text: UnsafeRawBufferPointer($0)) }
        case .bytes(let value): unsafe value.withUnsafeBytes { unsafe append(text: $0) }
        }
        if descending { invert(from: start) }
    }

    /// Appends the value of a row's column as a component. An absent value counts as null.
    mutating func append(column index: Int, of row: borrowing RowView, descending: Bool = false) {
        let start = bytes.count
        switch row.tag(at: index) {
        case .absent, .null: bytes.append(Mark.null)
        case .false: append(bool: false)
        case .true: append(bool: true)
        case .int, .timestamp:
            unsafe append(
                component: Self.ordered(Int64(littleEndian: row.bytes(at: index).loadUnaligned(as: Int64.self))))
        case .double: append(double: row.double(at: index) ?? .nan)
        case .string, .bytes, .json: unsafe append(text: row.bytes(at: index))
        }
        if descending { invert(from: start) }
    }

    /// Appends the identifier as a component, so that others may follow it.
    mutating func append(idComponent id: UnsafeRawBufferPointer, of ids: IDRule, descending: Bool = false) {
        let start = bytes.count
        switch ids {
        case .int: unsafe append(component: Self.ordered(Int64(littleEndian: id.loadUnaligned(as: Int64.self))))
        case .exact: unsafe append(text: id)
        case .folded:
            unsafe append(text: id)
            fold(from: start)
        }
        if descending { invert(from: start) }
    }

    /// Appends the beginning of a component: the common prefix of all texts that begin with `text`.
    mutating func append(beginningOf text: UnsafeRawBufferPointer) {
        bytes.append(Mark.value)
        unsafe appendEscaped(text)
    }

    /// Returns the length of the component that begins at `start`, or `nil` if the bytes are not a component.
    ///
    /// - Parameter type: The type of the column.
    static func componentLength(
        in key: UnsafeRawBufferPointer, at start: Int, type: ColumnType
    ) -> Int? {
        guard start < key.count else { return nil }
        guard unsafe key[start] == Mark.value else {
            return unsafe key[start] == Mark.null || key[start] == Mark.notANumber ? 1 : nil
        }
        switch type {
        case .bool: return start + 2 <= key.count ? 2 : nil
        case .int, .timestamp, .double: return start + 9 <= key.count ? 9 : nil
        case .string, .bytes, .json:
            // Most texts contain no zero other than the terminator.
            if let end = unsafe key.firstZero(from: start + 1), end + 1 < key.count, unsafe key[end + 1] == 1 {
                return end + 2 - start
            }
            var index = start + 1
            while index + 1 < key.count {
                guard unsafe key[index] == 0 else {
                    index += 1
                    continue
                }
                if unsafe key[index + 1] == 1 { return index + 2 - start }
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
        unsafe withUnsafeBytes(of: word.bigEndian) { unsafe bytes.append(contentsOf: $0) }
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
        unsafe appendEscaped(text)
        bytes.append(0)
        bytes.append(1)
    }

    private mutating func appendEscaped(_ text: UnsafeRawBufferPointer) {
        guard unsafe text.hasZero else {
            unsafe bytes.append(contentsOf: text)
            return
        }
        for index in text.indices {
            let byte = unsafe text[index]
            bytes.append(byte)
            if byte == 0 { bytes.append(0xFF) }
        }
    }

    /// Replaces `A`–`Z` with `a`–`z`. No other byte of a component is in that range.
    private mutating func fold(from start: Int) {
        unsafe bytes.withUnsafeMutableBytes { bytes in
            // Without a branch, so that the compiler can vectorize the loop.
            for index in start..<bytes.count { unsafe bytes[index] |= bytes[index] &- 0x41 < 26 ? 0x20 : 0 }
        }
    }

    private mutating func invert(from start: Int) {
        for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }

    /// Returns the bits of an integer, which sort like the integer when compared as big-endian bytes.
    static func ordered(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ 1 << 63 }
}

/// The representation of a table's identifiers in keys.
enum IDRule: Sendable {
    /// The bytes unchanged.
    case exact
    /// With `A`–`Z` replaced by `a`–`z`.
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

    var type: TableSchema.IDType { self == .int ? .int : .string }
}
