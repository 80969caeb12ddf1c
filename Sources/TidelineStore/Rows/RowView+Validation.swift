extension RowView {
    /// Returns whether bytes are a valid row of a shape.
    ///
    /// Every tag must be valid for its column, every value must follow the previous one with the length that its tag
    /// requires, and the last value must end at the end of the row.
    ///
    /// Unsafe pointers: the number of columns is checked against the row's length and the shape before tags and offsets
    /// are read unchecked. This function runs for every row of every scan.
    @inline(__always)
    static func isValid(
        _ bytes: UnsafeRawBufferPointer, columns: Int, isWide: Bool, shape: RowShape
    ) -> Bool {
        guard columns <= shape.count, let row = bytes.baseAddress,
            bytes.count >= RowFormat.payloadOffset(columns: columns, wide: isWide)
        else { return false }
        if isWide { return unsafe isValid(row, bytes.count, columns: columns, shape: shape, offsets: UInt32.self) }
        guard columns == shape.count, !shape.tagBlocks.isEmpty else {
            return unsafe isValid(row, bytes.count, columns: columns, shape: shape, offsets: UInt16.self)
        }
        // The usual case: all columns, and few bytes.
        let tags = unsafe row + RowFormat.headerSize
        let ends = unsafe tags + columns
        let last = unsafe Int(ends.loadUnaligned(fromByteOffset: columns &* 2 &- 2, as: UInt16.self))
        guard bytes.count == RowFormat.headerSize &+ columns &* 3 &+ last else { return false }
        return unsafe shape.tagBlocks.withUnsafeBufferPointer {
            unsafe TagBlock.allow($0, columns: columns, tags: tags, ends: ends)
        }
    }

    /// Returns the same for any row whose tables are known to be complete.
    private static func isValid<Offset: FixedWidthInteger>(
        _ row: UnsafeRawPointer, _ length: Int, columns: Int, shape: RowShape, offsets: Offset.Type
    ) -> Bool {
        let ends = RowFormat.headerSize + columns
        return unsafe shape.tagRules.withUnsafeBufferPointer { rules in
            var previous = 0
            for column in 0..<columns {
                let tag = unsafe row.load(fromByteOffset: RowFormat.headerSize + column, as: UInt8.self)
                let stored = unsafe row.loadUnaligned(
                    fromByteOffset: ends + column * MemoryLayout<Offset>.size, as: Offset.self)
                let end = Int(truncatingIfNeeded: Offset(littleEndian: stored))
                guard unsafe rules[column].allows(tag, length: end - previous) else { return false }
                previous = end
            }
            return ends + columns * MemoryLayout<Offset>.size + previous == length
        }
    }

    /// Returns whether bytes are a valid row of a shape and one of `rows`.
    ///
    /// Unsafe pointers: as above. The row's length is checked against its tables before they are read.
    @inline(__always)
    static func isValid(
        _ bytes: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer, oneOf rows: RowLayout, shape: RowShape
    ) -> Bool {
        guard unsafe rows.matches(bytes), let row = bytes.baseAddress,
            unsafe bytes.count == rows.payload &+ rows.payloadLength(of: row),
            id.count == 8 || shape.idType == .string
        else { return false }
        let blocks = shape.tagBlocks
        guard !blocks.isEmpty else {
            return unsafe isValid(row, bytes.count, columns: rows.columns, shape: shape, offsets: UInt16.self)
        }
        let tags = unsafe row + RowFormat.headerSize
        return unsafe blocks.withUnsafeBufferPointer {
            unsafe TagBlock.allow($0, columns: rows.columns, tags: tags, ends: tags + rows.columns)
        }
    }
}
