internal import TidelineStore

/// The values of the row being read: where each lies in the JSON, or the value itself where the JSON is not it.
///
/// Unsafe pointers: an array of slots would check for unique ownership at every value. The slots are allocated once for
/// an answer; an index is a position in the shape, which the number of slots follows, or `id`. What slots point to is
/// the JSON, which outlives the reader, and `scratch`, to which they are pointed when the row is whole and the scratch
/// can no longer move.
struct StagedRow: ~Copyable {
    private let slots: UnsafeMutableBufferPointer<PackedSlot>
    /// Text that had to be unescaped and bytes that had to be decoded.
    private var scratch: [UInt8] = []
    /// Which slots lie in the scratch, each from the offset in its word; a slot that is set once more is here twice.
    private var borrowers: [Int] = []

    /// The slot of the id, behind those of the columns.
    var id: Int { slots.count - 1 }

    init(columns: Int) {
        slots = .allocate(capacity: columns + 1)
        slots.initialize(repeating: PackedSlot())
    }

    deinit { slots.deallocate() }

    /// Forgets all values.
    mutating func removeAll() {
        for index in 0..<slots.count { set(.absent, at: index) }
        guard !borrowers.isEmpty else { return }
        borrowers.removeAll(keepingCapacity: true)
        scratch.removeAll(keepingCapacity: true)
    }

    @inline(__always)
    mutating func set(_ tag: RowTag, at index: Int) { set(tag, base: nil, count: 0, at: index) }

    @inline(__always)
    mutating func set(_ word: UInt64, as tag: RowTag, at index: Int) {
        slots[index].word = word
        set(tag, base: nil, count: 8, at: index)
    }

    @inline(__always)
    mutating func set(_ bytes: UnsafeRawBufferPointer, as tag: RowTag, at index: Int) {
        set(tag, base: bytes.baseAddress, count: bytes.count, at: index)
    }

    @inline(__always)
    private mutating func set(_ tag: RowTag, base: UnsafeRawPointer?, count: Int, at index: Int) {
        slots[index].tag = tag
        slots[index].base = base
        slots[index].count = count
    }

    /// Sets a value to what `body` appends to the scratch; its result.
    mutating func setScratch<T>(as tag: RowTag, at index: Int, _ body: (inout [UInt8]) -> T) -> T {
        let offset = scratch.count
        let result = body(&scratch)
        // In the slot, so that of a member given twice the last counts.
        slots[index].word = UInt64(offset)
        set(tag, base: nil, count: scratch.count - offset, at: index)
        borrowers.append(index)
        return result
    }

    /// Adds the row to a batch.
    ///
    /// - Returns: The hash of its id; nil when the row is too large for a batch.
    mutating func pack(into rows: inout PackedRows, hashing ids: borrowing IDSet) -> UInt64? {
        guard !borrowers.isEmpty else { return packResolved(into: &rows, hashing: ids) }
        // Nothing is appended to the scratch from here on, so that it stays where it is.
        return scratch.withUnsafeBytes { scratch in
            for index in borrowers where slots[index].count > 0 && slots[index].base == nil {
                slots[index].base = scratch.baseAddress.map { $0 + Int(slots[index].word) }
            }
            return packResolved(into: &rows, hashing: ids)
        }
    }

    private func packResolved(into rows: inout PackedRows, hashing ids: borrowing IDSet) -> UInt64? {
        let idBytes = UnsafeRawBufferPointer(start: slots[id].base, count: slots[id].count)
        let columns = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(slots)[..<id])
        return rows.append(slots: columns, id: idBytes) ? ids.hash(idBytes) : nil
    }
}
