/// The row under construction in a batch.
///
/// As long as columns are set in the order of their positions and fit the narrow form, their tags and ends go straight
/// to their place in the buffer. The first that does not fit scatters the row: from then on `slots` tells where each
/// column's bytes lie, and the end of the row gathers them.
struct OpenRow: ~Copyable, Sendable {
    enum ID: Sendable { case missing, wrongType, present }

    /// Where a column's bytes lie, counted from the beginning of the payload.
    struct Slot: Sendable {
        var tag = RowTag.absent
        var start = 0
        var end = 0
    }

    let columnCount: Int
    var isOpen = false
    var start = 0
    var payloadStart = 0
    /// The columns before this one have their place in the header.
    var nextIndex = 0
    var isScattered = false
    var slots: [Slot] = []
    var id = ID.missing
    /// Kept apart until the row ends, because it may come in the middle of the columns and lies behind them.
    var idBytes = PackedBuffer(capacity: 0)

    init(columnCount: Int) { self.columnCount = columnCount }

    mutating func begin(at offset: Int) {
        isOpen = true
        start = offset
        payloadStart = offset + RowFormat.payloadOffset(columns: columnCount, wide: false)
        nextIndex = 0
        isScattered = false
        id = .missing
    }
}

extension PackedRows {
    /// Enters a column whose bytes are those of the buffer from `start` to its end.
    mutating func note(_ tag: RowTag, at index: Int, from start: Int) {
        assert(open.isOpen, "no row was begun")
        precondition(index >= 0 && index < open.columnCount, "no column \(index) in a row of \(open.columnCount)")
        let end = buffer.count - open.payloadStart
        guard index >= open.nextIndex, end <= RowFormat.maximumNarrowPayload, !open.isScattered else {
            scatter(OpenRow.Slot(tag: tag, start: start - open.payloadStart, end: end), at: index)
            return
        }
        if index > open.nextIndex { writeAbsent(upTo: index, end: start - open.payloadStart) }
        writeNarrow(tag, at: index, end: end)
        open.nextIndex = index + 1
    }

    private func writeNarrow(_ tag: RowTag, at index: Int, end: Int) {
        let tags = open.start + RowFormat.headerSize
        buffer.store(tag.rawValue, at: tags + index)
        buffer.store(UInt16(truncatingIfNeeded: end), at: tags + open.columnCount + index * 2)
    }

    private mutating func writeAbsent(upTo index: Int, end: Int) {
        for skipped in open.nextIndex..<index { writeNarrow(.absent, at: skipped, end: end) }
    }

    /// Ends a row that is in order.
    mutating func completeHeader() {
        if open.nextIndex < open.columnCount {
            writeAbsent(upTo: open.columnCount, end: buffer.count - open.payloadStart)
        }
        writeFixedPart(isWide: false)
    }

    /// Format, zero, number of columns, shape id: see ``RowFormat``.
    private func writeFixedPart(isWide: Bool) {
        let format = UInt64(isWide ? RowFormat.wide : RowFormat.narrow)
        buffer.store(format | UInt64(open.columnCount) << 16, at: open.start)
    }

    private mutating func scatter(_ slot: OpenRow.Slot, at index: Int) {
        if !open.isScattered {
            open.isScattered = true
            open.slots.removeAll(keepingCapacity: true)
            open.slots.append(contentsOf: repeatElement(OpenRow.Slot(), count: open.columnCount))
            let tags = open.start + RowFormat.headerSize
            var start = 0
            for column in 0..<open.nextIndex {
                let end = Int(buffer.load(UInt16.self, at: tags + open.columnCount + column * 2))
                let tag = RowTag(rawValue: buffer.load(UInt8.self, at: tags + column)) ?? .absent
                open.slots[column] = OpenRow.Slot(tag: tag, start: start, end: end)
                start = end
            }
        }
        open.slots[index] = slot
    }

    /// Ends a row that is not in order or needs the wide form, dropping the bytes of columns that were set again.
    mutating func gather() throws(StoreError) {
        let length = open.slots.reduce(0) { $0 + $1.end - $1.start }
        guard length <= RowFormat.maximumWidePayload else {
            let id =
                shape.idType == .string ? String(decoding: open.idBytes[0, open.idBytes.count], as: UTF8.self) : nil
            throw StoreError(.invalidValue, "a row is larger than 4 GiB", table: shape.table, id: id)
        }
        let isWide = length > RowFormat.maximumNarrowPayload
        let old = Array(buffer[open.payloadStart, buffer.count - open.payloadStart])
        buffer.truncate(to: open.start)
        buffer.grow(by: RowFormat.payloadOffset(columns: open.columnCount, wide: isWide))
        writeFixedPart(isWide: isWide)
        let ends = open.start + RowFormat.headerSize + open.columnCount
        var end = 0
        for (index, slot) in open.slots.enumerated() {
            old.withUnsafeBytes { buffer.append(UnsafeRawBufferPointer(rebasing: $0[slot.start..<slot.end])) }
            end += slot.end - slot.start
            buffer.store(slot.tag.rawValue, at: open.start + RowFormat.headerSize + index)
            if isWide {
                buffer.store(UInt32(truncatingIfNeeded: end), at: ends + index * 4)
            } else {
                buffer.store(UInt16(truncatingIfNeeded: end), at: ends + index * 2)
            }
        }
    }
}
