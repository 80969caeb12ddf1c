extension RowView {
    /// Returns the value at a position of a row that this process validated or packed, or `nil` if the column is
    /// absent.
    static func value(at index: Int, in row: UnsafeRawBufferPointer) -> Value? {
        let header = unsafe RowHeader(trusting: row)
        guard index < header.columns, let base = row.baseAddress else { return nil }
        return unsafe Value(RowTag(known: header.tag(of: index, in: base)), header.value(of: index, in: base))
    }

    /// Calls `body` with the raw tag and the bytes of each stored column in order, until it returns `false`.
    ///
    /// - Returns: Whether the row has `count` columns and all calls returned `true`.
    @inlinable
    @inline(__always)
    package func allValues(
        _ count: Int, _ body: (_ index: Int, _ tag: UInt8, _ bytes: UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        guard count == header.columns, let base = unsafe packed.baseAddress else { return false }
        return try unsafe header.allValues(in: base, body)
    }
}

extension Value {
    /// Creates the value with the given tag and bytes, or `nil` if it is absent.
    @inline(__always)
    init?(_ tag: RowTag, _ bytes: UnsafeRawBufferPointer) {
        switch tag {
        case .absent: return nil
        case .null: self = .null
        case .false: self = .bool(false)
        case .true: self = .bool(true)
        case .int: self = unsafe .int(bytes.word)
        case .double: self = unsafe .double(Double(bitPattern: UInt64(bitPattern: bytes.word)))
        case .string: self = unsafe .string(String(decoding: bytes, as: UTF8.self))
        case .timestamp: self = unsafe .timestamp(Timestamp(clampingTicks: bytes.word))
        case .bytes: self = unsafe .bytes(Array(bytes))
        case .json: self = unsafe .json(String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension RowTag {
    /// Creates the tag with a raw value that is known to be valid.
    ///
    /// Unsafe: the raw values of the cases match the order of their declaration, so the raw value equals the tag's
    /// representation in memory. The failable initializer would need a call and a table lookup for each value of a row.
    @inlinable package init(known rawValue: UInt8) {
        assert(RowTag(rawValue: rawValue) != nil, "invalid tag \(rawValue)")
        self = unsafe unsafeBitCast(rawValue, to: RowTag.self)
    }
}
