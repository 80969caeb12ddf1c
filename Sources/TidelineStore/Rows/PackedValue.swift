/// One value of a row that is collected before it is packed: the location of its bytes, or the eight bytes themselves.
///
/// A parser, for example, may encounter values in another order than that of the columns. It stores them in slots, one
/// per column, and packs the row at its end. Each value is copied once, and a repeated value costs nothing.
@safe
package struct PackedValue {
    /// The bytes of a string, bytes, or JSON; `nil` for all other types.
    package var base: UnsafeRawPointer?
    /// The number of bytes in the payload: 8 for int, double, and timestamp, 0 for values that the tag represents
    /// completely.
    package var count: Int
    /// The payload of an int, double or timestamp.
    package var word: UInt64
    package var tag: RowTag

    /// Creates an absent value.
    package init() {
        unsafe base = nil
        count = 0
        word = 0
        tag = .absent
    }
}

extension PackedRows {
    /// Appends a row whose values are in `slots`, one for each column of the shape.
    ///
    /// The tags must match the types of the columns, and strings must be UTF-8.
    ///
    /// Unsafe pointers: the caller keeps the memory that the slots point to valid during the call. The space is
    /// computed from the same counts as are used to fill it.
    ///
    /// - Returns: `true` if the row was appended, or `false` if its values have more than 4 GiB.
    package mutating func append(slots: UnsafeBufferPointer<PackedValue>, id: UnsafeRawBufferPointer) -> Bool {
        precondition(slots.count == shape.count, "the number of slots differs from the number of columns")
        guard let plan = unsafe RowPacking(of: slots) else { return false }
        let start = buffer.count
        buffer.grow(by: plan.length + id.count)
        let room = unsafe buffer.mutable(start, plan.length + id.count)
        unsafe plan.pack(slots, layout: 0, into: room)
        unsafe UnsafeMutableRawBufferPointer(rebasing: room[plan.length...]).copyMemory(from: id)
        entries.append(
            Entry(rowOffset: start, rowLength: plan.length, idOffset: start + plan.length, idLength: id.count))
        return true
    }
}

/// The layout of one packed row built from slots.
package struct RowPacking {
    /// The number of bytes of the row.
    package let length: Int
    private let isWide: Bool

    /// Measures the row, or returns `nil` if its values have more than 4 GiB.
    package init?(of slots: UnsafeBufferPointer<PackedValue>) {
        var payload = 0
        for index in slots.indices { payload += unsafe slots[index].count }
        guard payload <= RowFormat.maximumWidePayload else { return nil }
        isWide = payload > RowFormat.maximumNarrowPayload
        length = RowFormat.payloadOffset(columns: slots.count, wide: isWide) + payload
    }

    /// Writes the row.
    ///
    /// - Parameters:
    ///   - slots: The values that were measured.
    ///   - layout: The shape identifier for the header.
    ///   - room: At least ``length`` bytes.
    package func pack(
        _ slots: UnsafeBufferPointer<PackedValue>, layout: UInt32, into room: UnsafeMutableRawBufferPointer
    ) {
        guard let row = room.baseAddress else { return }
        if isWide {
            unsafe Self.pack(slots, RowTables<UInt32>(columns: slots.count), layout, into: row)
        } else {
            unsafe Self.pack(slots, RowTables<UInt16>(columns: slots.count), layout, into: row)
        }
    }

    /// Writes a row whose total payload length fits in `Offset`.
    @inline(__always)
    private static func pack<Offset>(
        _ slots: UnsafeBufferPointer<PackedValue>, _ tables: RowTables<Offset>, _ layout: UInt32,
        into row: UnsafeMutableRawPointer
    ) {
        unsafe tables.writeHeader(to: row, layout: layout)
        var value = unsafe row + tables.payload
        var end = 0
        for index in 0..<slots.count {
            let slot = unsafe slots[index]
            if let base = unsafe slot.base {
                unsafe value.copyMemory(from: base, byteCount: slot.count)
            } else if slot.count > 0 {
                unsafe value.storeBytes(of: slot.word.littleEndian, as: UInt64.self)
            }
            unsafe value += slot.count
            end &+= slot.count
            unsafe tables.write(slot.tag, end: end, of: index, to: row)
        }
    }
}
