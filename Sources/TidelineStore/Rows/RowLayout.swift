/// The header shared by the narrow rows of one layout that have all columns of a shape.
///
/// Most rows of a store are of this kind. One comparison of eight bytes identifies them, and the offsets of their
/// tables are known in advance.
@usableFromInline
package struct RowLayout: Sendable {
    /// The number of columns.
    @usableFromInline package let columns: Int
    /// The offset of the values.
    @usableFromInline package let payload: Int
    /// The eight bytes of the header as an integer.
    @usableFromInline let header: UInt64

    /// Creates the header of the rows with the given layout number.
    package init(of shape: RowShape, layout: UInt32) {
        columns = shape.count
        payload = RowFormat.payloadOffset(columns: shape.count, wide: false)
        header = UInt64(RowFormat.narrow) | UInt64(shape.count) << 16 | UInt64(layout) << 32
    }

    /// The place of a column's tag and of the bounds of its value in such rows.
    ///
    /// Unsafe pointers: the row was checked with ``matches(_:)``. The bounds of a damaged row may be wrong.
    @usableFromInline
    package struct Place: Sendable {
        @usableFromInline let tagOffset: Int
        /// The offset of the value's end, preceded by the end of the previous value, if there is one.
        @usableFromInline let endOffset: Int
        @usableFromInline let isFirst: Bool

        /// Returns the raw value of the column's tag.
        @inlinable
        @inline(__always)
        package func tag(in row: UnsafeRawPointer) -> UInt8 {
            unsafe row.load(fromByteOffset: tagOffset, as: UInt8.self)
        }

        /// Returns the bounds of the column's value, relative to the beginning of the values.
        @inlinable
        @inline(__always)
        package func bounds(in row: UnsafeRawPointer) -> (start: Int, end: Int) {
            unsafe (isFirst ? 0 : RowLayout.end(at: endOffset &- 2, in: row), RowLayout.end(at: endOffset, in: row))
        }
    }

    package func place(of column: Int) -> Place {
        Place(
            tagOffset: RowFormat.headerSize + column, endOffset: RowFormat.headerSize + columns + 2 * column,
            isFirst: column == 0)
    }

    @inlinable
    @inline(__always)
    static func end(at offset: Int, in row: UnsafeRawPointer) -> Int {
        unsafe Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    /// Returns whether bytes begin with the header and tables of such a row.
    ///
    /// Unsafe pointers: the header is read only after the length was checked.
    @inlinable
    @inline(__always)
    package func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= payload, let row = bytes.baseAddress else { return false }
        return unsafe UInt64(littleEndian: row.loadUnaligned(as: UInt64.self)) == header
    }

    /// Returns the number of bytes of values according to the tables of such a row.
    @inlinable
    @inline(__always)
    package func payloadLength(of row: UnsafeRawPointer) -> Int {
        guard columns > 0 else { return 0 }
        return unsafe Self.end(at: payload &- 2, in: row)
    }
}

extension RowView {
    /// Points the view at a row that is one of `rows` and validates it.
    ///
    /// - Parameter rows: The rows of this view's shape.
    /// - Returns: `false` if the row is not one of `rows` or is damaged, which ``point(atID:validating:)``
    ///   distinguishes.
    package mutating func point(
        atID id: UnsafeRawBufferPointer, validating bytes: UnsafeRawBufferPointer, oneOf rows: RowLayout
    ) -> Bool {
        guard unsafe RowView.isValid(bytes, id: id, oneOf: rows, shape: shape) else { return false }
        unsafe packedID = id
        unsafe packed = bytes
        header = RowHeader(columns: rows.columns, payloadLength: bytes.count &- rows.payload)
        return true
    }
}
