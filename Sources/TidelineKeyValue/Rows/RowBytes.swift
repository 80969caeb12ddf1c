internal import TidelineStore

/// A packed row whose columns are checked when they are read, for filters, which read few columns of many rows.
///
/// Unsafe pointers: the row and its identifier are valid as long as their source. ``RowHeader`` has checked the tables
/// of tags and ends against the row's length, and each end is checked against it before a value is read.
@safe
struct RowBytes {
    /// The identifier in the form that views use.
    let id: UnsafeRawBufferPointer
    private let row: UnsafeRawPointer
    let header: RowHeader

    /// Creates the row at the beginning of the bytes, without its identifier, or `nil` if they do not begin with a row.
    @inline(__always)
    init?(columnsOf bytes: UnsafeRawBufferPointer) {
        unsafe self.init(bytes, id: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Creates the row that a view shows, valid until the view points elsewhere, or `nil` if the view shows no row.
    init?(_ view: borrowing RowView) {
        unsafe self.init(view.withPackedBytes { unsafe $0 }, id: unsafe view.withIDBytes { unsafe $0 })
    }

    @inline(__always)
    private init?(_ bytes: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) {
        guard let header = unsafe RowHeader(of: bytes), let row = bytes.baseAddress else { return nil }
        self.header = header
        unsafe self.row = row
        unsafe self.id = id
    }

    /// Returns the raw value of a column's tag, which may be invalid.
    @inline(__always)
    func tag(at column: Int) -> UInt8 {
        guard column < header.columns else { return RowTag.absent.rawValue }
        return unsafe row.load(fromByteOffset: RowHeader.size &+ column, as: UInt8.self)
    }

    /// Returns the bytes of a column's value.
    @inline(__always)
    func value(at column: Int) throws(RowDamage) -> UnsafeRawBufferPointer {
        guard column < header.columns else { return unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        let end = unsafe header.end(of: column, in: row)
        let start = unsafe column == 0 ? 0 : header.end(of: column &- 1, in: row)
        guard start <= end, end <= header.payloadLength else { throw RowDamage() }
        return unsafe UnsafeRawBufferPointer(start: row + header.payload + start, count: end &- start)
    }
}

/// An error that indicates an invalid row.
struct RowDamage: Error {}

/// The header of a packed row; see `RowFormat`.
struct RowHeader {
    /// The same values as in `RowFormat`, as compile-time constants, because they are used for every row.
    @inline(__always)
    fileprivate static var size: Int { 8 }
    @inline(__always)
    private static var narrow: UInt8 { 1 }
    @inline(__always)
    private static var wide: UInt8 { 2 }

    /// The number of columns.
    let columns: Int
    /// The number of the layout.
    let layout: Int
    let isWide: Bool
    /// The offset of the values, and the number of their bytes.
    let payload: Int
    let payloadLength: Int

    /// The length of the whole row.
    var length: Int { payload &+ payloadLength }

    /// Reads a header, or returns `nil` if the bytes do not begin with a complete row.
    @inline(__always)
    init?(of bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.size, let row = bytes.baseAddress else { return nil }
        let word = unsafe UInt64(littleEndian: row.loadUnaligned(as: UInt64.self))
        let format = UInt8(truncatingIfNeeded: word)
        guard format == Self.narrow || format == Self.wide else { return nil }
        isWide = format == Self.wide
        columns = Int(word >> 16 & 0xFFFF)
        layout = Int(word >> 32)
        payload = Self.size &+ columns &+ columns &* (isWide ? 4 : 2)
        guard bytes.count >= payload else { return nil }
        payloadLength = unsafe columns == 0 ? 0 : Self.end(of: columns &- 1, in: row, columns: columns, isWide: isWide)
        guard length <= bytes.count else { return nil }
    }

    /// Returns the end of the values of the columns up to and including the given one.
    @inline(__always)
    func end(of column: Int, in row: UnsafeRawPointer) -> Int {
        unsafe Self.end(of: column, in: row, columns: columns, isWide: isWide)
    }

    @inline(__always)
    private static func end(of column: Int, in row: UnsafeRawPointer, columns: Int, isWide: Bool) -> Int {
        let ends = unsafe row + size + columns
        return unsafe isWide
            ? Int(UInt32(littleEndian: ends.loadUnaligned(fromByteOffset: column &* 4, as: UInt32.self)))
            : Int(UInt16(littleEndian: ends.loadUnaligned(fromByteOffset: column &* 2, as: UInt16.self)))
    }
}
