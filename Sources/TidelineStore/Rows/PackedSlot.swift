/// One value of a row that is put together before it is packed: where its bytes are, or the eight bytes themselves.
///
/// Who meets the values of a row in an order not that of its columns, a parser say, notes them in slots, one for each
/// column, and packs the row at its end: each value is copied once, and a value given twice costs nothing.
package struct PackedSlot {
    /// The bytes of a string, bytes or JSON; nil for all others.
    package var base: UnsafeRawPointer?
    /// The number of bytes in the payload: 8 for int, double and timestamp, 0 for what its tag says in full.
    package var count: Int
    /// The payload of an int, double or timestamp.
    package var word: UInt64
    /// What the value is.
    package var tag: RowTag

    /// An absent value.
    package init() {
        base = nil
        count = 0
        word = 0
        tag = .absent
    }
}

extension PackedRows {
    /// Adds a row whose values are in `slots`, one for each column of the shape; the slots are as their columns' types
    /// ask, and strings are UTF-8.
    ///
    /// Unsafe pointers: the caller keeps what the slots point to during the call. The room is measured from the same
    /// counts by which it is filled.
    ///
    /// - Returns: Whether the row was added; false when its values have more than 4 GiB.
    package mutating func append(slots: UnsafeBufferPointer<PackedSlot>, id: UnsafeRawBufferPointer) -> Bool {
        precondition(slots.count == shape.count, "a row has a slot for each column")
        guard let plan = RowPacking(of: slots) else { return false }
        let start = buffer.count
        buffer.grow(by: plan.length + id.count)
        let room = buffer.mutable(start, plan.length + id.count)
        plan.pack(slots, layout: 0, into: room)
        UnsafeMutableRawBufferPointer(rebasing: room[plan.length...]).copyMemory(from: id)
        entries.append(
            Entry(rowOffset: start, rowLength: plan.length, idOffset: start + plan.length, idLength: id.count))
        return true
    }
}

/// How the values of some slots become one packed row.
package struct RowPacking {
    /// The bytes of the row.
    package let length: Int
    private let isWide: Bool

    /// Measures the row; nil when its values have more than 4 GiB.
    package init?(of slots: UnsafeBufferPointer<PackedSlot>) {
        var payload = 0
        for slot in slots { payload += slot.count }
        guard payload <= RowFormat.maximumWidePayload else { return nil }
        isWide = payload > RowFormat.maximumNarrowPayload
        length = RowFormat.payloadOffset(columns: slots.count, wide: isWide) + payload
    }

    /// Writes the row.
    ///
    /// - Parameters:
    ///   - slots: The values that were measured.
    ///   - layout: The shape id for the header.
    ///   - room: At least ``length`` bytes.
    package func pack(
        _ slots: UnsafeBufferPointer<PackedSlot>, layout: UInt32, into room: UnsafeMutableRawBufferPointer
    ) {
        let format = UInt64(isWide ? RowFormat.wide : RowFormat.narrow)
        let header = format | UInt64(slots.count) << 16 | UInt64(layout) << 32
        room.storeBytes(of: header.littleEndian, as: UInt64.self)
        if isWide {
            Self.pack(slots, as: UInt32.self, into: room)
        } else {
            Self.pack(slots, as: UInt16.self, into: room)
        }
    }

    /// Writes tags, ends and values of a row whose values altogether have a length that `Offset` holds.
    @inline(__always)
    private static func pack<Offset: FixedWidthInteger>(
        _ slots: UnsafeBufferPointer<PackedSlot>, as type: Offset.Type, into room: UnsafeMutableRawBufferPointer
    ) {
        guard let row = room.baseAddress else { return }
        let tags = row + RowFormat.headerSize
        let ends = tags + slots.count
        var value = ends + slots.count * MemoryLayout<Offset>.size
        var end = 0
        for index in 0..<slots.count {
            let slot = slots[index]
            (tags + index).storeBytes(of: slot.tag.rawValue, as: UInt8.self)
            if let base = slot.base {
                value.copyMemory(from: base, byteCount: slot.count)
            } else if slot.count > 0 {
                value.storeBytes(of: slot.word.littleEndian, as: UInt64.self)
            }
            value += slot.count
            end &+= slot.count
            (ends + index * MemoryLayout<Offset>.size)
                .storeBytes(of: Offset(truncatingIfNeeded: end).littleEndian, as: Offset.self)
        }
    }
}
