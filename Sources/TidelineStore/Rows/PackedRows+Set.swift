extension PackedRows {
    /// Sets the column at a position to null.
    public mutating func setNull(at index: Int) { appendValue(.null, at: index, from: buffer.count) }

    /// Sets the column at a position to a Boolean value.
    public mutating func setBool(_ value: Bool, at index: Int) {
        appendValue(value ? .true : .false, at: index, from: buffer.count)
    }

    /// Sets the column at a position to an integer.
    public mutating func setInt(_ value: Int64, at index: Int) { setWord(UInt64(bitPattern: value), .int, at: index) }

    /// Sets the column at a position to a double.
    public mutating func setDouble(_ value: Double, at index: Int) { setWord(value.bitPattern, .double, at: index) }

    /// Sets the column at a position to a timestamp.
    public mutating func setTimestamp(_ value: Timestamp, at index: Int) {
        setWord(UInt64(bitPattern: value.ticks), .timestamp, at: index)
    }

    private mutating func setWord(_ word: UInt64, _ tag: RowTag, at index: Int) {
        let start = buffer.count
        buffer.grow(by: 8)
        buffer.store(word, at: start)
        appendValue(tag, at: index, from: start)
    }

    /// Sets the column at a position to the string, bytes, or JSON with these bytes. A string or JSON must be valid
    /// UTF-8.
    public mutating func setBytes(_ bytes: UnsafeRawBufferPointer, as tag: RowTag, at index: Int) {
        precondition(tag.hasBytes, "\(tag) has no bytes")
        let start = buffer.count
        unsafe buffer.append(bytes)
        appendValue(tag, at: index, from: start)
    }

    /// Sets the column at a position to a value of any type.
    public mutating func set(_ value: Value, at index: Int) {
        switch value {
        case .null: setNull(at: index)
        case .bool(let value): setBool(value, at: index)
        case .int(let value): setInt(value, at: index)
        case .double(let value): setDouble(value, at: index)
        case .string(var value): value.withUTF8 { unsafe setBytes(UnsafeRawBufferPointer($0), as: .string, at: index) }
        case .timestamp(let value): setTimestamp(value, at: index)
        case .bytes(let value): unsafe value.withUnsafeBytes { unsafe setBytes($0, as: .bytes, at: index) }
        case .json(var value): value.withUTF8 { unsafe setBytes(UnsafeRawBufferPointer($0), as: .json, at: index) }
        }
    }
}

extension RowTag {
    /// Whether values with this tag are bytes of any length.
    @inline(__always)
    var hasBytes: Bool { rawValue == RowTag.string.rawValue || rawValue >= RowTag.bytes.rawValue }
}
