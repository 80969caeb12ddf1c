/// A batch of rows of one table in one contiguous buffer: what a page of a pull is parsed into, and what a store
/// writes from.
///
/// One buffer and no object per row or value is what makes a store as fast as the engine below it. Build a row with
/// ``beginRow()``, `set…`, ``setID(_:)-(RowID)``, ``endRow()``, or copy one with ``append(_:)-(Row)``; read with
/// ``forEachRow(_:)``. A column that is not set is absent: an upsert keeps what is stored.
///
/// Unsafe pointers: the buffer is owned by this noncopyable value and freed with it; views of it are handed out only
/// to closures while the batch is borrowed and therefore cannot change.
public struct PackedRows: ~Copyable, Sendable {
    /// The columns of the rows.
    public let shape: RowShape
    var buffer: PackedBuffer
    private(set) var entries: [Entry] = []
    private var open: OpenRow

    /// Where a row and its id lie in the buffer.
    struct Entry {
        var rowOffset: Int
        var rowLength: Int
        var idOffset: Int
        var idLength: Int
    }

    /// The row under construction: where it begins, and where each column's bytes lie after the header.
    private struct OpenRow {
        var isOpen = false
        var start = 0
        var slots: [Slot]
        var isInOrder = true
        var lastIndex = -1
        var idOffset = -1
        var idLength = 0
        var id: [UInt8] = []
    }

    private struct Slot {
        var tag = RowTag.absent
        var start = 0
        var end = 0
    }

    /// An empty batch of rows of `shape`, with room for `byteCapacity` bytes before the buffer grows.
    public init(shape: RowShape, byteCapacity: Int = 0) {
        self.shape = shape
        buffer = PackedBuffer(capacity: byteCapacity)
        open = OpenRow(slots: Array(repeating: Slot(), count: shape.count))
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
        // A row is followed by its id, and that by the next row.
        buffer.truncate(to: entries[newCount].rowOffset)
        entries.removeSubrange(newCount...)
    }

    // MARK: Reading

    /// Calls `body` with each row, in the order in which they were added.
    public func forEachRow(_ body: (borrowing RowView) throws -> Void) rethrows {
        var view = RowView(shape: shape)
        for entry in entries {
            view.point(atID: buffer[entry.idOffset, entry.idLength], trusting: buffer[entry.rowOffset, entry.rowLength])
            try body(view)
        }
    }

    /// Calls `body` with the row at a position.
    public func withRow<T>(at index: Int, _ body: (borrowing RowView) throws -> T) rethrows -> T {
        var view = RowView(shape: shape)
        let entry = entries[index]
        view.point(atID: buffer[entry.idOffset, entry.idLength], trusting: buffer[entry.rowOffset, entry.rowLength])
        return try body(view)
    }

    // MARK: Building

    /// Begins a row; every ``beginRow()`` is followed by ``endRow()`` or ``cancelRow()``.
    public mutating func beginRow() {
        precondition(!open.isOpen, "the last row was not ended")
        open.isOpen = true
        open.start = buffer.count
        open.isInOrder = true
        open.lastIndex = -1
        open.idOffset = -1
        open.id.removeAll(keepingCapacity: true)
        for index in open.slots.indices { open.slots[index].tag = .absent }
        buffer.grow(by: RowFormat.payloadOffset(columns: shape.count, wide: false))
    }

    /// Drops the row under construction; does nothing when there is none.
    public mutating func cancelRow() {
        guard open.isOpen else { return }
        open.isOpen = false
        buffer.truncate(to: open.start)
    }

    /// Completes the row.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidValue`` when the row has no id or more than 4 GiB;
    ///   the row is dropped then and the batch stays as it was.
    public mutating func endRow() throws(StoreError) {
        precondition(open.isOpen, "no row was begun")
        guard open.idOffset >= 0 else {
            cancelRow()
            throw StoreError(.invalidValue, "a row has no id", table: shape.table, column: "id")
        }
        var payloadStart = open.start + RowFormat.payloadOffset(columns: shape.count, wide: false)
        if !open.isInOrder { reorderPayload(from: payloadStart) }
        let payloadLength = buffer.count - payloadStart
        let isWide = payloadLength > RowFormat.maximumNarrowPayload
        if isWide {
            guard payloadLength <= RowFormat.maximumWidePayload else {
                let id = String(decoding: open.id, as: UTF8.self)
                cancelRow()
                throw StoreError(.invalidValue, "a row is larger than 4 GiB", table: shape.table, id: id)
            }
            let shift = 2 * shape.count
            buffer.insertGap(at: payloadStart, count: shift)
            payloadStart += shift
        }
        writeHeader(isWide: isWide)
        let rowEnd = buffer.count
        open.id.withUnsafeBytes { buffer.append($0) }
        entries.append(
            Entry(
                rowOffset: open.start, rowLength: rowEnd - open.start, idOffset: rowEnd, idLength: open.id.count))
        open.isOpen = false
    }

    private func writeHeader(isWide: Bool) {
        let count = shape.count
        let base = open.start
        buffer.store(isWide ? RowFormat.wide : RowFormat.narrow, at: base)
        buffer.store(UInt8(0), at: base + 1)
        buffer.store(UInt16(count), at: base + 2)
        buffer.store(UInt32(0), at: base + 4)
        let tags = base + RowFormat.headerSize
        let offsets = tags + count
        var end = 0
        for index in 0..<count {
            let slot = open.slots[index]
            buffer.store(slot.tag.rawValue, at: tags + index)
            if slot.tag.hasPayload { end += slot.end - slot.start }
            if isWide {
                buffer.store(UInt32(end), at: offsets + index * 4)
            } else {
                buffer.store(UInt16(end), at: offsets + index * 2)
            }
        }
    }

    /// Puts the columns' bytes into column order, which also drops those of a column that was set twice.
    private mutating func reorderPayload(from payloadStart: Int) {
        let old = Array(buffer[payloadStart, buffer.count - payloadStart])
        buffer.truncate(to: payloadStart)
        old.withUnsafeBytes { old in
            for index in open.slots.indices where open.slots[index].tag.hasPayload {
                let slot = open.slots[index]
                buffer.append(
                    UnsafeRawBufferPointer(rebasing: old[(slot.start - payloadStart)..<(slot.end - payloadStart)]))
            }
        }
    }

    private mutating func note(_ tag: RowTag, at index: Int, from start: Int) {
        assert(open.isOpen, "no row was begun")
        if index <= open.lastIndex { open.isInOrder = false }
        open.lastIndex = max(open.lastIndex, index)
        open.slots[index] = Slot(tag: tag, start: start, end: buffer.count)
    }

    /// Sets the id of the row under construction.
    public mutating func setID(_ id: RowID) {
        switch id {
        case .string(var text): text.withUTF8 { setID(bytes: UnsafeRawBufferPointer($0)) }
        case .int(let number): withUnsafeBytes(of: number.littleEndian) { setID(bytes: $0) }
        }
    }

    /// Sets the id of the row under construction by its bytes: UTF-8, or eight little-endian bytes for an integer.
    public mutating func setID(bytes: UnsafeRawBufferPointer) {
        assert(open.isOpen, "no row was begun")
        open.id.removeAll(keepingCapacity: true)
        open.id.append(contentsOf: bytes)
        open.idOffset = 0
    }

    /// Sets the column at a position to null, or makes it absent again.
    public mutating func setNull(at index: Int) { note(.null, at: index, from: buffer.count) }

    /// Sets the column at a position.
    public mutating func setBool(_ value: Bool, at index: Int) {
        note(value ? .true : .false, at: index, from: buffer.count)
    }

    /// Sets the column at a position.
    public mutating func setInt(_ value: Int64, at index: Int) { setWord(UInt64(bitPattern: value), .int, at: index) }

    /// Sets the column at a position.
    public mutating func setDouble(_ value: Double, at index: Int) { setWord(value.bitPattern, .double, at: index) }

    /// Sets the column at a position.
    public mutating func setTimestamp(_ value: Timestamp, at index: Int) {
        setWord(UInt64(bitPattern: value.ticks), .timestamp, at: index)
    }

    private mutating func setWord(_ word: UInt64, _ tag: RowTag, at index: Int) {
        let start = buffer.count
        buffer.grow(by: 8)
        buffer.store(word, at: start)
        note(tag, at: index, from: start)
    }

    /// Sets the column at a position to the string, bytes or JSON with these bytes, which must be valid UTF-8 for the
    /// first and the last.
    public mutating func setBytes(_ bytes: UnsafeRawBufferPointer, as tag: RowTag, at index: Int) {
        precondition(tag == .string || tag == .bytes || tag == .json, "\(tag) has no bytes")
        let start = buffer.count
        buffer.append(bytes)
        note(tag, at: index, from: start)
    }

    /// Sets the column at a position to bytes that `body` writes itself, without an intermediate copy.
    ///
    /// - Parameters:
    ///   - maximumCount: The room `body` is given.
    ///   - body: Writes to the beginning of the room and returns how many bytes it wrote. When it throws, the column
    ///     stays as it was.
    public mutating func setBytes<E: Error>(
        as tag: RowTag, at index: Int, maximumCount: Int,
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
    ) throws(E) {
        let start = buffer.count
        buffer.grow(by: maximumCount)
        let written: Int
        do {
            written = try body(buffer.mutable(start, maximumCount))
        } catch {
            buffer.truncate(to: start)
            throw error
        }
        precondition(written <= maximumCount, "more bytes written than there was room")
        buffer.truncate(to: start + written)
        note(tag, at: index, from: start)
    }

    /// Sets the column at a position to a value, whatever its type.
    public mutating func set(_ value: Value, at index: Int) {
        switch value {
        case .null: setNull(at: index)
        case .bool(let value): setBool(value, at: index)
        case .int(let value): setInt(value, at: index)
        case .double(let value): setDouble(value, at: index)
        case .string(var value): value.withUTF8 { setBytes(UnsafeRawBufferPointer($0), as: .string, at: index) }
        case .timestamp(let value): setTimestamp(value, at: index)
        case .bytes(let value): value.withUnsafeBytes { setBytes($0, as: .bytes, at: index) }
        case .json(var value): value.withUTF8 { setBytes(UnsafeRawBufferPointer($0), as: .json, at: index) }
        }
    }
}

extension RowTag {
    var hasPayload: Bool { rawValue >= RowTag.int.rawValue }
}
