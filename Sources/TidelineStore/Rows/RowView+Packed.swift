extension RowView {
    /// The row in the packed format, valid as long as the view points where it does; for adapters of this package, which
    /// read its values one after the other.
    @inlinable package var packed: UnsafeRawBufferPointer { row }

    /// The bytes of the id, valid as long as the view points where it does.
    @inlinable package var packedID: UnsafeRawBufferPointer { idBytes }
}

extension RowView {
    /// The value at a position of a row that was validated or packed by this process, nil when it does not name the column.
    static func value(at index: Int, in row: UnsafeRawBufferPointer) -> Value? {
        let columns = load(UInt16.self, in: row, at: 2)
        guard index < columns, let base = row.baseAddress else { return nil }
        let isWide = row[0] == RowFormat.wide
        let start = index == 0 ? 0 : end(of: index - 1, in: row, columns: columns, isWide: isWide)
        let end = end(of: index, in: row, columns: columns, isWide: isWide)
        let payload = base + RowFormat.payloadOffset(columns: columns, wide: isWide)
        return Value(
            RowTag(known: row[RowFormat.headerSize + index]),
            UnsafeRawBufferPointer(start: payload + start, count: end - start))
    }
}

extension Value {
    /// The value with that tag and these bytes; nil for an absent one.
    @inline(__always)
    init?(_ tag: RowTag, _ bytes: UnsafeRawBufferPointer) {
        switch tag {
        case .absent: return nil
        case .null: self = .null
        case .false: self = .bool(false)
        case .true: self = .bool(true)
        case .int: self = .int(Self.word(bytes))
        case .double: self = .double(Double(bitPattern: UInt64(bitPattern: Self.word(bytes))))
        case .string: self = .string(String(decoding: bytes, as: UTF8.self))
        case .timestamp: self = .timestamp(Timestamp(clampingTicks: Self.word(bytes)))
        case .bytes: self = .bytes(Array(bytes))
        case .json: self = .json(String(decoding: bytes, as: UTF8.self))
        }
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
    }
}

extension RowTag {
    /// The tag with a raw value that is known to be one's.
    ///
    /// Unsafe: the cases have the numbers that they are declared in the order of, so the raw value is the tag's memory.
    /// The failable initialiser is a call and a table for each value of a row.
    @inlinable package init(known rawValue: UInt8) {
        assert(RowTag(rawValue: rawValue) != nil, "no tag has the number \(rawValue)")
        self = unsafeBitCast(rawValue, to: RowTag.self)
    }
}
