/// A packed row whose columns are checked when they are read, for filters, which read few columns of many rows.
///
/// Unsafe pointers: the row and its identifier are valid as long as their source. ``RowHeader`` has checked that the
/// row's tables are within the bytes, and each end is checked against them before a value is read.
@safe
@usableFromInline
package struct RowBytes {
    /// The identifier in the form that views use.
    @usableFromInline package let id: UnsafeRawBufferPointer
    @usableFromInline let row: UnsafeRawPointer
    /// The header of the row.
    @usableFromInline package let header: RowHeader

    /// Creates the row at the beginning of the bytes, without its identifier, or `nil` if they do not begin with a row.
    @inlinable
    @inline(__always)
    package init?(columnsOf bytes: UnsafeRawBufferPointer) {
        unsafe self.init(bytes, id: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Creates the row that a view shows, valid until the view points elsewhere, or `nil` if the view shows no row.
    @inlinable
    @inline(__always)
    package init?(_ view: borrowing RowView) {
        unsafe self.init(view.packed, id: view.packedID)
    }

    @inlinable
    @inline(__always)
    init?(_ bytes: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) {
        guard let header = unsafe RowHeader(of: bytes), let row = bytes.baseAddress else { return nil }
        self.header = header
        unsafe self.row = row
        unsafe self.id = id
    }

    /// Returns the raw value of a column's tag, which may be invalid.
    @inlinable
    @inline(__always)
    package func tag(at column: Int) -> UInt8 {
        guard column < header.columns else { return RowTag.absent.rawValue }
        return unsafe header.tag(of: column, in: row)
    }

    /// Returns the bytes of a column's value.
    @inlinable
    @inline(__always)
    package func value(at column: Int) throws(RowDamage) -> UnsafeRawBufferPointer {
        guard column < header.columns else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        let end = unsafe header.end(of: column, in: row)
        let start = unsafe column == 0 ? 0 : header.end(of: column &- 1, in: row)
        guard start <= end, end <= header.payloadLength else { throw RowDamage() }
        return unsafe UnsafeRawBufferPointer(start: row + header.payload + start, count: end &- start)
    }
}

/// An error that indicates an invalid row.
@usableFromInline
package struct RowDamage: Error {
    @inlinable package init() {}
}
