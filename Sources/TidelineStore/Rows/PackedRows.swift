/// A batch of rows of one table in one contiguous buffer: what a page of a pull is parsed into, and what a store
/// writes from.
///
/// One buffer and no object per row or value is what makes a store as fast as the engine below it. Build a row with
/// ``beginRow()``, `set…`, ``setID(_:)-(RowID)``, ``endRow()``, or copy one with ``append(_:)-(Row)``; read with
/// ``forEachRow(_:)``. A column that is not set is absent: an upsert keeps what is stored.
///
/// Columns set in the order of their positions are written where they stay. Setting them in another order, or one
/// twice, is allowed and costs a copy of the row.
///
/// Unsafe pointers: the buffer is owned by this noncopyable value and freed with it; views of it are handed out only
/// to closures while the batch is borrowed and therefore cannot change.
public struct PackedRows: ~Copyable, Sendable {
    /// The columns of the rows.
    public let shape: RowShape
    var buffer: PackedBuffer
    var entries: [Entry] = []
    var open: OpenRow
    /// The last shape that was compared with this one, so that a copy of many rows compares once.
    var comparedShape: (shape: RowShape, isSame: Bool)?

    /// Where a row and its id lie in the buffer: the id behind the row, the next row behind the id.
    struct Entry {
        var rowOffset: Int
        var rowLength: Int
        var idOffset: Int
        var idLength: Int
    }

    /// An empty batch of rows of `shape`, with room for `byteCapacity` bytes before the buffer grows.
    public init(shape: RowShape, byteCapacity: Int = 0) {
        self.shape = shape
        buffer = PackedBuffer(capacity: byteCapacity)
        open = OpenRow(columnCount: shape.count)
    }

    /// The number of complete rows.
    public var count: Int { entries.count }

    /// Whether there is no complete row.
    public var isEmpty: Bool { entries.isEmpty }

    /// The bytes in use.
    public var byteCount: Int { buffer.count }

    /// Forgets all rows but keeps the buffer for the next ones.
    public mutating func removeAll() {
        cancelRow()
        entries.removeAll(keepingCapacity: true)
        buffer.truncate(to: 0)
    }

    /// Forgets the rows from position `newCount` on, and one under construction: the way back for who adds the rows of
    /// an answer that turns out to be bad.
    public mutating func truncate(toCount newCount: Int) {
        cancelRow()
        guard newCount < entries.count else { return }
        buffer.truncate(to: entries[newCount].rowOffset)
        entries.removeSubrange(newCount...)
    }

    // MARK: Reading

    /// Calls `body` with each row, in the order in which they were added.
    public func forEachRow(_ body: (borrowing RowView) throws -> Void) rethrows {
        var view = RowView(shape: shape)
        for entry in entries {
            point(&view, at: entry)
            try body(view)
        }
    }

    /// Calls `body` with the row at a position.
    public func withRow<T>(at index: Int, _ body: (borrowing RowView) throws -> T) rethrows -> T {
        var view = RowView(shape: shape)
        point(&view, at: entries[index])
        return try body(view)
    }

    /// Calls `body` with the bytes of all rows, and where in them they lie: four integers a row, for the offset and the
    /// length of the row, then for those of its id. It is for code in C, which the benchmark compares stores with.
    package func withStorage<T>(
        _ body: (_ rows: UnsafeRawBufferPointer, _ places: UnsafeRawBufferPointer) throws -> T
    ) rethrows -> T {
        try entries.withUnsafeBytes { try body(buffer[0, buffer.count], $0) }
    }

    private func point(_ view: inout RowView, at entry: Entry) {
        view.point(
            atID: buffer[entry.idOffset, entry.idLength], trusting: buffer[entry.rowOffset, entry.rowLength])
    }

    // MARK: Building

    /// Begins a row; every ``beginRow()`` is followed by ``endRow()`` or ``cancelRow()``.
    public mutating func beginRow() {
        precondition(!open.isOpen, "the last row was not ended")
        open.begin(at: buffer.count)
        buffer.grow(by: open.payloadStart - open.start)
    }

    /// Drops the row under construction; does nothing when there is none.
    public mutating func cancelRow() {
        guard open.isOpen else { return }
        open.isOpen = false
        buffer.truncate(to: open.start)
    }

    /// Completes the row.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidValue`` when the row has no id, an id of another
    ///   type than the shape's, or more than 4 GiB; the row is dropped then and the batch stays as it was.
    public mutating func endRow() throws(StoreError) {
        precondition(open.isOpen, "no row was begun")
        do {
            try requireID(open.id)
            try finishRow()
        } catch {
            cancelRow()
            throw error
        }
        open.isOpen = false
        appendEntry(from: open.start, id: open.idBytes[0, open.idBytes.count])
    }

    /// Adds a row that is packed already, its columns being those of this shape.
    mutating func append(packed row: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) {
        precondition(!open.isOpen, "the last row was not ended")
        let start = buffer.count
        buffer.append(row)
        appendEntry(from: start, id: id)
    }

    private mutating func appendEntry(from start: Int, id: UnsafeRawBufferPointer) {
        let end = buffer.count
        buffer.append(id)
        entries.append(Entry(rowOffset: start, rowLength: end - start, idOffset: end, idLength: id.count))
    }

    private func requireID(_ state: OpenRow.ID) throws(StoreError) {
        switch state {
        case .missing: throw StoreError(.invalidValue, "a row has no id", table: shape.table, column: "id")
        case .wrongType:
            throw StoreError(
                .invalidValue, "the id must be of type \(shape.idType.rawValue)", table: shape.table, column: "id")
        case .present: break
        }
    }

    /// Sets the id of the row under construction.
    public mutating func setID(_ id: RowID) {
        id.withBytes { setID(bytes: $0) }
        if id.type != shape.idType { open.id = .wrongType }
    }

    /// Sets the id of the row under construction by its bytes: UTF-8, or eight little-endian bytes for an integer.
    public mutating func setID(bytes: UnsafeRawBufferPointer) {
        assert(open.isOpen, "no row was begun")
        open.idBytes.truncate(to: 0)
        open.idBytes.append(bytes)
        open.id = shape.idType == .int && bytes.count != 8 ? .wrongType : .present
    }
}
