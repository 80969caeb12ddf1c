/// The row under construction in a batch.
///
/// The bytes of its values are written to their final location, after space for a narrow header. Slots record the
/// locations, and the header is written when the row ends. The bytes are gathered again only if a column was set out of
/// order or the values exceed the narrow form.
struct RowBuilder: ~Copyable, Sendable {
    enum ID: Sendable { case missing, wrongType, present }

    /// The location of a column's bytes, relative to the beginning of the payload.
    struct Slot: Sendable {
        var tag: RowTag
        var start: Int
        var end: Int
    }

    var isOpen = false
    var start = 0
    var payloadStart = 0
    /// The index of the first slot that still belongs to the previous row.
    var nextIndex = 0
    var isInOrder = true
    var slots: [Slot]
    var id = ID.missing
    /// Stored separately until the row ends, because it may be set between columns and is stored after them.
    var idBytes = PackedBuffer(capacity: 0)

    init(columnCount: Int) {
        slots = Array(repeating: Slot(tag: .absent, start: 0, end: 0), count: columnCount)
    }

    mutating func begin(at offset: Int) {
        isOpen = true
        start = offset
        payloadStart = offset + RowFormat.payloadOffset(columns: slots.count, wide: false)
        nextIndex = 0
        isInOrder = true
        id = .missing
    }

    @inline(__always)
    mutating func append(_ slot: Slot, at index: Int) {
        if index == nextIndex {
            nextIndex += 1
        } else if index > nextIndex {
            skip(to: index, end: slot.start)
            nextIndex = index + 1
        } else {
            isInOrder = false
        }
        slots[index] = slot
    }

    /// Marks the columns up to `index` as absent.
    mutating func skip(to index: Int, end: Int) {
        precondition(index <= slots.count, "no column \(index) in a row of \(slots.count)")
        for skipped in nextIndex..<index { slots[skipped] = Slot(tag: .absent, start: end, end: end) }
    }
}

extension PackedRows {
    /// Records a column whose bytes extend from `start` to the end of the buffer.
    @inline(__always)
    mutating func appendValue(_ tag: RowTag, at index: Int, from start: Int) {
        assert(builder.isOpen, "no row is under construction")
        let slot = RowBuilder.Slot(
            tag: tag, start: start - builder.payloadStart, end: buffer.count - builder.payloadStart)
        builder.append(slot, at: index)
    }

    /// Writes header and payload in their final form.
    mutating func finishRow() throws(StoreError) {
        let length = buffer.count - builder.payloadStart
        builder.skip(to: builder.slots.count, end: length)
        if builder.isInOrder, length <= RowFormat.maximumNarrowPayload {
            writeTables(RowTables<UInt16>(columns: builder.slots.count))
        } else {
            try gather()
        }
    }

    /// Gathers the bytes in the order of the columns, without those of columns that were set again.
    private mutating func gather() throws(StoreError) {
        let length = builder.slots.reduce(0) { $0 + $1.end - $1.start }
        guard length <= RowFormat.maximumWidePayload else {
            throw StoreError(.invalidValue, "a row is larger than 4 GiB", table: shape.table)
        }
        let isWide = length > RowFormat.maximumNarrowPayload
        let old = unsafe Array(buffer[builder.payloadStart, buffer.count - builder.payloadStart])
        buffer.truncate(to: builder.start)
        buffer.grow(by: RowFormat.payloadOffset(columns: builder.slots.count, wide: isWide))
        var end = 0
        for index in builder.slots.indices {
            let slot = builder.slots[index]
            unsafe old.withUnsafeBytes {
                unsafe buffer.append(UnsafeRawBufferPointer(rebasing: $0[slot.start..<slot.end]))
            }
            end += slot.end - slot.start
            builder.slots[index].end = end
        }
        if isWide {
            writeTables(RowTables<UInt32>(columns: builder.slots.count))
        } else {
            writeTables(RowTables<UInt16>(columns: builder.slots.count))
        }
    }

    /// Writes the header and the tables of the row, whose slots have their final ends.
    private mutating func writeTables<Offset>(_ tables: RowTables<Offset>) {
        guard let row = unsafe buffer.mutable(builder.start, tables.payload).baseAddress else { return }
        unsafe tables.writeHeader(to: row)
        for index in builder.slots.indices {
            unsafe tables.write(builder.slots[index].tag, end: builder.slots[index].end, of: index, to: row)
        }
    }
}
