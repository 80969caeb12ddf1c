extension RowView {
    /// A value borrowed from a row, as passed by ``forEachValue(_:)``.
    ///
    /// Bytes are borrowed: they are valid only until the closure that received them returns.
    @safe
    public enum BorrowedValue {
        /// The column is absent from the row.
        case absent
        case null
        case bool(Bool)
        case int(Int64)
        case double(Double)
        /// The UTF-8 bytes of a text.
        case string(UnsafeRawBufferPointer)
        case timestamp(Timestamp)
        case bytes(UnsafeRawBufferPointer)
        /// The UTF-8 bytes of a JSON text.
        case json(UnsafeRawBufferPointer)
    }

    /// Calls `body` with every value in the order of the columns, without copying.
    ///
    /// This is the fastest way to read a whole row, because no offset is looked up twice.
    @inlinable
    public func forEachValue(_ body: (_ index: Int, BorrowedValue) throws -> Void) rethrows {
        _ = try unsafe allValues(header.columns) { index, tag, bytes in
            try unsafe body(index, BorrowedValue(tag: tag, bytes))
            return true
        }
        for index in header.columns..<shape.count { try body(index, .absent) }
    }
}

extension RowView.BorrowedValue {
    /// Creates the value for a tag and its bytes, whose number must match the tag.
    @inlinable
    @inline(__always)
    init(tag: UInt8, _ bytes: UnsafeRawBufferPointer) {
        switch tag {
        case RowTag.null.rawValue: self = .null
        case RowTag.false.rawValue: self = .bool(false)
        case RowTag.true.rawValue: self = .bool(true)
        case RowTag.int.rawValue: self = unsafe .int(bytes.word)
        case RowTag.double.rawValue: self = unsafe .double(Double(bitPattern: UInt64(bitPattern: bytes.word)))
        case RowTag.string.rawValue: self = unsafe .string(bytes)
        case RowTag.timestamp.rawValue: self = unsafe .timestamp(Timestamp(clampingTicks: bytes.word))
        case RowTag.bytes.rawValue: self = unsafe .bytes(bytes)
        case RowTag.json.rawValue: self = unsafe .json(bytes)
        default: self = .absent
        }
    }
}
