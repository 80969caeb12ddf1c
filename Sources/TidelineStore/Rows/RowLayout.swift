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

    /// Returns the offset of a column's tag.
    package func tagOffset(of column: Int) -> Int { RowFormat.headerSize + column }

    /// Returns the offset of the end of a column's value.
    package func endOffset(of column: Int) -> Int { RowFormat.headerSize + columns + 2 * column }

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
        return unsafe Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: payload &- 2, as: UInt16.self)))
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
        unsafe idBytes = id
        unsafe row = bytes
        header = RowHeader(columns: rows.columns, payloadLength: bytes.count &- rows.payload)
        return true
    }
}
