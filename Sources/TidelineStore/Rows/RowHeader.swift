/// The header of a packed row, which tells where the tags and the values of the row are; see ``RowFormat``.
///
/// All reading of packed rows goes through this type, except for rows of a known layout (``RowLayout``) and the
/// validation of whole rows (``TagBlock``).
@usableFromInline
package struct RowHeader: Sendable {
    /// The number of columns.
    @usableFromInline package let columns: Int
    /// The number of the layout.
    @usableFromInline package let layout: Int
    @usableFromInline let isWide: Bool
    /// The offset of the values.
    @usableFromInline package let payload: Int
    /// The number of bytes of the values.
    @usableFromInline package let payloadLength: Int

    /// The length of the whole row.
    @inlinable package var length: Int { payload &+ payloadLength }

    /// Creates the header of a narrow row.
    @inlinable
    init(columns: Int = 0, payloadLength: Int = 0) {
        self.columns = columns
        layout = 0
        isWide = false
        payload = RowFormat.payloadOffset(columns: columns, wide: false)
        self.payloadLength = payloadLength
    }

    /// Reads a header, or returns `nil` if the bytes do not begin with a complete row. The tables are not checked.
    @inlinable
    @inline(__always)
    package init?(of bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= RowFormat.headerSize, let row = bytes.baseAddress else { return nil }
        let word = unsafe UInt64(littleEndian: row.loadUnaligned(as: UInt64.self))
        let format = UInt8(truncatingIfNeeded: word)
        guard format == RowFormat.narrow || format == RowFormat.wide else { return nil }
        isWide = format == RowFormat.wide
        columns = Int(word >> 16 & 0xFFFF)
        layout = Int(clamping: word >> 32)
        payload = RowFormat.payloadOffset(columns: columns, wide: isWide)
        guard bytes.count >= payload else { return nil }
        payloadLength = unsafe columns == 0 ? 0 : Self.end(of: columns &- 1, in: row, columns: columns, isWide: isWide)
        guard payloadLength <= bytes.count &- payload else { return nil }
    }

    /// Reads the header of a row that this process validated or packed.
    @inlinable
    @inline(__always)
    init(trusting bytes: UnsafeRawBufferPointer) {
        let word = unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        isWide = UInt8(truncatingIfNeeded: word) == RowFormat.wide
        columns = Int(word >> 16 & 0xFFFF)
        layout = Int(clamping: word >> 32)
        payload = RowFormat.payloadOffset(columns: columns, wide: isWide)
        payloadLength = bytes.count &- payload
    }

    /// Returns the raw value of a column's tag.
    @inlinable
    @inline(__always)
    func tag(of column: Int, in row: UnsafeRawPointer) -> UInt8 {
        unsafe row.load(fromByteOffset: RowFormat.headerSize &+ column, as: UInt8.self)
    }

    /// Returns the end of a column's value, relative to the beginning of the values.
    @inlinable
    @inline(__always)
    func end(of column: Int, in row: UnsafeRawPointer) -> Int {
        unsafe Self.end(of: column, in: row, columns: columns, isWide: isWide)
    }

    @inlinable
    @inline(__always)
    static func end(of column: Int, in row: UnsafeRawPointer, columns: Int, isWide: Bool) -> Int {
        let ends = unsafe row + RowFormat.headerSize + columns
        return unsafe isWide
            ? Int(clamping: UInt32(littleEndian: ends.loadUnaligned(fromByteOffset: column &* 4, as: UInt32.self)))
            : Int(UInt16(littleEndian: ends.loadUnaligned(fromByteOffset: column &* 2, as: UInt16.self)))
    }

    /// Returns the bytes of a column's value in a valid row.
    @inlinable
    @inline(__always)
    func value(of column: Int, in row: UnsafeRawPointer) -> UnsafeRawBufferPointer {
        let end = unsafe end(of: column, in: row)
        let start = unsafe column == 0 ? 0 : self.end(of: column &- 1, in: row)
        return unsafe UnsafeRawBufferPointer(start: row + payload + start, count: end &- start)
    }

    /// Calls `body` with the raw tag and the bytes of each value in order, until it returns `false`.
    ///
    /// Unsafe pointers: the row was validated, so it has a tag and an end for each column, and every end is within the
    /// row.
    ///
    /// - Returns: Whether all calls returned `true`.
    @inlinable
    @inline(__always)
    func allValues(
        in row: UnsafeRawPointer, _ body: (Int, UInt8, UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        unsafe isWide
            ? try allValues(in: row, endsOf: UInt32.self, body) : try allValues(in: row, endsOf: UInt16.self, body)
    }

    @inlinable
    @inline(__always)
    func allValues<Offset: FixedWidthInteger>(
        in row: UnsafeRawPointer, endsOf type: Offset.Type, _ body: (Int, UInt8, UnsafeRawBufferPointer) throws -> Bool
    ) rethrows -> Bool {
        let tags = unsafe row + RowFormat.headerSize
        let ends = unsafe tags + columns
        let values = unsafe row + payload
        var start = 0
        for index in 0..<columns {
            let stored = unsafe ends.loadUnaligned(fromByteOffset: index &* MemoryLayout<Offset>.size, as: Offset.self)
            let end = Int(truncatingIfNeeded: Offset(littleEndian: stored))
            let bytes = unsafe UnsafeRawBufferPointer(start: values + start, count: end &- start)
            start = end
            guard try unsafe body(index, tags.load(fromByteOffset: index, as: UInt8.self), bytes) else { return false }
        }
        return true
    }
}

/// Writes the header, the tags, and the ends of a packed row with offsets of type `Offset`.
///
/// All packing of rows goes through this type.
@usableFromInline
package struct RowTables<Offset: FixedWidthInteger> {
    /// The offset of the values.
    @usableFromInline package let payload: Int
    @usableFromInline let columns: Int

    @inlinable
    package init(columns: Int) {
        self.columns = columns
        payload = RowFormat.payloadOffset(columns: columns, wide: MemoryLayout<Offset>.size == 4)
    }

    /// Writes the first eight bytes of the row.
    @inlinable
    package func writeHeader(to row: UnsafeMutableRawPointer, layout: UInt32 = 0) {
        let format = MemoryLayout<Offset>.size == 4 ? RowFormat.wide : RowFormat.narrow
        let word = UInt64(format) | UInt64(columns) << 16 | UInt64(layout) << 32
        unsafe row.storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    /// Writes the tag of a column and the end of its value.
    @inlinable
    @inline(__always)
    package func write(_ tag: RowTag, end: Int, of column: Int, to row: UnsafeMutableRawPointer) {
        let tags = unsafe row + RowFormat.headerSize
        unsafe tags.storeBytes(of: tag.rawValue, toByteOffset: column, as: UInt8.self)
        unsafe (tags + columns).storeBytes(
            of: Offset(truncatingIfNeeded: end).littleEndian, toByteOffset: column &* MemoryLayout<Offset>.size,
            as: Offset.self)
    }
}
