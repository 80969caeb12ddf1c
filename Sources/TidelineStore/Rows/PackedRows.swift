/// A batch of rows of one table in one contiguous buffer. A page of a pull is parsed into a batch, and stores write
/// from it.
///
/// The single buffer, without an object per row or value, allows a store to be as fast as its engine. Build a row with
/// ``beginRow()``, `set…`, ``setID(_:)-(RowID)``, and ``endRow()``, or copy one with ``append(_:)-(Row)``. Read rows
/// with ``forEachRow(_:)``. A column that is not set is absent: an upsert keeps its stored value.
///
/// Columns set in the order of their positions are written to their final location. Setting columns in another order,
/// or one column twice, is allowed but requires copying the row.
///
/// Unsafe pointers: this noncopyable value owns the buffer and frees it. Views of it are passed only to closures while
/// the batch is borrowed and therefore cannot change.
public struct PackedRows: ~Copyable, Sendable {
    /// The columns of the rows.
    public let shape: RowShape
    var buffer: PackedBuffer
    var entries: [Entry] = []
    var builder: RowBuilder
    /// The last shape that was compared with this one, so that copying many rows compares shapes once.
    var comparedShape: (shape: RowShape, isSame: Bool)?

    /// The location of a row and its identifier in the buffer. The identifier follows its row, and the next row follows
    /// the identifier.
    struct Entry {
        var rowOffset: Int
        var rowLength: Int
        var idOffset: Int
        var idLength: Int
    }

    /// Creates an empty batch for rows of `shape`, with capacity for `byteCapacity` bytes before the buffer grows.
    public init(shape: RowShape, byteCapacity: Int = 0) {
        self.shape = shape
        buffer = PackedBuffer(capacity: byteCapacity)
        builder = RowBuilder(columnCount: shape.count)
    }

    /// The number of complete rows.
    public var count: Int { entries.count }

    /// Whether there are no complete rows.
    public var isEmpty: Bool { entries.isEmpty }

    /// The number of bytes in use.
    public var byteCount: Int { buffer.count }

    /// Removes all rows but keeps the buffer's capacity.
    public mutating func removeAll() {
        cancelRow()
        entries.removeAll(keepingCapacity: true)
        buffer.truncate(to: 0)
    }

    /// Removes the rows from position `newCount` on and the row under construction.
    ///
    /// Use it to discard the rows of a response that turns out to be invalid.
    @usableFromInline
    package mutating func truncate(toCount newCount: Int) {
        cancelRow()
        guard newCount < entries.count else { return }
        buffer.truncate(to: entries[newCount].rowOffset)
        entries.removeSubrange(newCount...)
    }

    // MARK: Reading

    /// Calls `body` with each row, in the order in which the rows were added.
    public func forEachRow(_ body: (borrowing RowView) throws -> Void) rethrows {
        var view = RowView(shape: shape)
        for entry in entries {
            point(&view, at: entry)
            try body(view)
        }
    }

    /// Calls `body` with the row at the given position.
    public func withRow<T>(at index: Int, _ body: (borrowing RowView) throws -> T) rethrows -> T {
        var view = RowView(shape: shape)
        point(&view, at: entries[index])
        return try body(view)
    }

    /// Calls `body` with the bytes of all rows and their locations.
    ///
    /// There are four integers for each row: the offset and length of the row, then those of its identifier. This
    /// method is for C code that the benchmark compares stores with.
    package func withStorage<T>(
        _ body: (_ rows: UnsafeRawBufferPointer, _ places: UnsafeRawBufferPointer) throws -> T
    ) rethrows -> T {
        try unsafe entries.withUnsafeBytes { try unsafe body(buffer[0, buffer.count], $0) }
    }

    private func point(_ view: inout RowView, at entry: Entry) {
        unsafe view.point(
            atID: buffer[entry.idOffset, entry.idLength], trusting: buffer[entry.rowOffset, entry.rowLength])
    }

    // MARK: Building

    /// Begins a row. Every call must be followed by ``endRow()`` or ``cancelRow()``.
    public mutating func beginRow() {
        precondition(!builder.isOpen, "the previous row was not ended")
        builder.begin(at: buffer.count)
        buffer.grow(by: builder.payloadStart - builder.start)
    }

    /// Discards the row under construction, if there is one.
    public mutating func cancelRow() {
        guard builder.isOpen else { return }
        builder.isOpen = false
        buffer.truncate(to: builder.start)
    }

    /// Completes the row.
    ///
    /// - Throws: ``StoreError/Code/invalidValue`` if the row has no identifier, an identifier of another type than the
    ///   shape's, or more than 4 GiB. The row is then discarded and the batch is unchanged.
    public mutating func endRow() throws(StoreError) {
        precondition(builder.isOpen, "no row is under construction")
        do {
            try requireID(builder.id)
            try finishRow()
        } catch {
            cancelRow()
            throw error
        }
        builder.isOpen = false
        unsafe appendEntry(from: builder.start, id: builder.idBytes[0, builder.idBytes.count])
    }

    /// Appends a packed row whose columns are those of this shape.
    mutating func append(packed row: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) {
        precondition(!builder.isOpen, "the previous row was not ended")
        let start = buffer.count
        unsafe buffer.append(row)
        unsafe appendEntry(from: start, id: id)
    }

    private mutating func appendEntry(from start: Int, id: UnsafeRawBufferPointer) {
        let end = buffer.count
        unsafe buffer.append(id)
        entries.append(Entry(rowOffset: start, rowLength: end - start, idOffset: end, idLength: id.count))
    }

    private func requireID(_ state: RowBuilder.ID) throws(StoreError) {
        switch state {
        case .missing: throw StoreError(.invalidValue, "a row has no id", table: shape.table, column: "id")
        case .wrongType: throw wrongIDType()
        case .present: break
        }
    }

    /// Sets the identifier of the row under construction.
    public mutating func setID(_ id: RowID) {
        unsafe id.withBytes { unsafe setID(bytes: $0) }
        if id.type != shape.idType { builder.id = .wrongType }
    }

    /// Sets the identifier of the row under construction from its bytes: UTF-8, or eight little-endian bytes for an
    /// integer.
    public mutating func setID(bytes: UnsafeRawBufferPointer) {
        assert(builder.isOpen, "no row is under construction")
        builder.idBytes.truncate(to: 0)
        unsafe builder.idBytes.append(bytes)
        builder.id = shape.idType == .int && bytes.count != 8 ? .wrongType : .present
    }
}
