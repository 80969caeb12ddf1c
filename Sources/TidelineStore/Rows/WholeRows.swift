/// What the narrow rows of one layout that have all columns of a shape begin with: most rows of a store, each told by one
/// comparison of eight bytes, and with their tables at places that are known before.
@usableFromInline
package struct WholeRows: Sendable {
    /// The number of columns.
    @usableFromInline package let columns: Int
    /// Where the values begin.
    @usableFromInline package let payload: Int
    /// The eight bytes of the header, as a number.
    @usableFromInline let header: UInt64

    /// The rows that have a layout's number in their headers.
    package init(of shape: RowShape, layout: UInt32) {
        columns = shape.count
        payload = RowFormat.payloadOffset(columns: shape.count, wide: false)
        header = UInt64(RowFormat.narrow) | UInt64(shape.count) << 16 | UInt64(layout) << 32
    }

    /// Where a column's tag lies.
    package func tagOffset(of column: Int) -> Int { RowFormat.headerSize + column }

    /// Where the end of a column's value is written.
    package func endOffset(of column: Int) -> Int { RowFormat.headerSize + columns + 2 * column }

    /// Whether some bytes begin with the header and the tables of such a row.
    ///
    /// Unsafe pointers: the header is read where there are that many bytes.
    @inlinable
    @inline(__always)
    package func describe(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= payload, let row = bytes.baseAddress else { return false }
        return UInt64(littleEndian: row.loadUnaligned(as: UInt64.self)) == header
    }

    /// How many bytes of values a row has that begins so, as far as it says itself.
    @inlinable
    @inline(__always)
    package func payloadLength(of row: UnsafeRawPointer) -> Int {
        guard columns > 0 else { return 0 }
        return Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: payload &- 2, as: UInt16.self)))
    }
}

extension RowView {
    /// Points the view at a row that is one of `rows`, checking all of it; false where it is not one of them, or damaged,
    /// which ``point(atID:validating:)`` tells apart.
    ///
    /// - Parameter rows: Those of this view's shape.
    package mutating func point(
        atID id: UnsafeRawBufferPointer, validating bytes: UnsafeRawBufferPointer, oneOf rows: WholeRows
    ) -> Bool {
        guard RowView.isValid(bytes, id: id, oneOf: rows, shape: shape) else { return false }
        idBytes = id
        row = bytes
        storedCount = rows.columns
        isWide = false
        payload = rows.payload
        return true
    }
}
