extension RowView {
    /// Returns whether bytes are a valid row of a shape.
    ///
    /// Every tag must be valid for its column, every value must follow the previous one with the length that its tag
    /// requires, and the last value must end at the end of the row.
    ///
    /// Unsafe pointers: the header was checked against the row's length, and the number of columns is checked against
    /// the shape before tags and offsets are read unchecked. This function runs for every row of every scan.
    @inline(__always)
    static func isValid(_ bytes: UnsafeRawBufferPointer, _ header: RowHeader, shape: RowShape) -> Bool {
        let columns = header.columns
        guard columns <= shape.count, bytes.count == header.length, let row = bytes.baseAddress else { return false }
        if header.isWide { return unsafe isValid(row, columns: columns, shape: shape, offsets: UInt32.self) }
        guard columns == shape.count, !shape.tagBlocks.isEmpty else {
            return unsafe isValid(row, columns: columns, shape: shape, offsets: UInt16.self)
        }
        // The usual case: all columns, and few bytes.
        let tags = unsafe row + RowFormat.headerSize
        let ends = unsafe tags + columns
        return unsafe shape.tagBlocks.withUnsafeBufferPointer {
            unsafe TagBlock.allow($0, columns: columns, tags: tags, ends: ends)
        }
    }

    /// Returns the same for any row whose tables are known to be complete and to agree with the row's length.
    private static func isValid<Offset: FixedWidthInteger>(
        _ row: UnsafeRawPointer, columns: Int, shape: RowShape, offsets: Offset.Type
    ) -> Bool {
        let ends = RowFormat.headerSize + columns
        return unsafe shape.tagRules.withUnsafeBufferPointer { rules in
            var previous = 0
            for column in 0..<columns {
                let tag = unsafe row.load(fromByteOffset: RowFormat.headerSize + column, as: UInt8.self)
                let stored = unsafe row.loadUnaligned(
                    fromByteOffset: ends + column * MemoryLayout<Offset>.size, as: Offset.self)
                let end = Int(clamping: Offset(littleEndian: stored))
                guard unsafe rules[column].allows(tag, length: end - previous) else { return false }
                previous = end
            }
            return true
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
            return unsafe isValid(row, columns: rows.columns, shape: shape, offsets: UInt16.self)
        }
        let tags = unsafe row + RowFormat.headerSize
        return unsafe blocks.withUnsafeBufferPointer {
            unsafe TagBlock.allow($0, columns: rows.columns, tags: tags, ends: tags + rows.columns)
        }
    }
}
