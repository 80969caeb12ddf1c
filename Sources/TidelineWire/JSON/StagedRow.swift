internal import TidelineStore

/// The values of the row being read: the location of each value in the JSON, or the value itself if the JSON cannot be
/// used directly.
///
/// Unsafe pointers: an array of slots would check for unique ownership at each value. The slots are allocated once per
/// response. An index is a position in the shape, which determines the number of slots, or `id`. Slots point to the
/// JSON, which outlives the reader, or to `scratch`. The latter pointers are set when the row is complete, after which
/// the scratch buffer does not move.
struct StagedRow: ~Copyable {
    private let slots: UnsafeMutableBufferPointer<PackedValue>
    /// The text that had to be unescaped and the bytes that had to be decoded.
    private var scratch: [UInt8] = []
    /// The slots whose value is in the scratch buffer, at the offset in the slot's word. A slot that is set twice is
    /// listed twice.
    private var borrowers: [Int] = []

    /// The slot of the id, after the slots of the columns.
    var id: Int { slots.count - 1 }

    init(columns: Int) {
        slots = .allocate(capacity: columns + 1)
        slots.initialize(repeating: PackedValue())
    }

    deinit { slots.deallocate() }

    /// Removes all values.
    mutating func removeAll() {
        for index in 0..<slots.count { set(.absent, at: index) }
        guard !borrowers.isEmpty else { return }
        borrowers.removeAll(keepingCapacity: true)
        scratch.removeAll(keepingCapacity: true)
    }

    /// Sets the columns without a value to null.
    mutating func completeAbsent() {
        for index in 0..<id where slots[index].tag == .absent { set(.null, at: index) }
    }

    /// Returns whether ``JSONWriter`` writes the number or timestamp of a slot as this text. Returns `false` for null,
    /// and `true` for values of other types, whose texts have the same meaning.
    func isWritten(at index: Int, as text: UnsafeRawBufferPointer) -> Bool {
        let word = slots[index].word
        switch slots[index].tag {
        case .null: return false
        case .int: return text.allSatisfy { $0.isDigit || $0 == UInt8(ascii: "-") }
        case .double: return Self.isWritten(Double(bitPattern: word), as: text)
        case .timestamp:
            guard let timestamp = Timestamp(ticks: Int64(bitPattern: word)) else { return false }
            return withUnsafeTemporaryAllocation(byteCount: 28, alignment: 1) { buffer in
                let length = timestamp.writeISO8601(into: buffer)
                return text.dropFirst().dropLast().elementsEqual(buffer[..<length])
            }
        default: return true
        }
    }

    private static func isWritten(_ value: Double, as text: UnsafeRawBufferPointer) -> Bool {
        // Up to fifteen digits are the shortest text of a double, except for zeros at the end.
        let point = text.count - 2
        if text.count <= 16, abs(value) >= 1, text.contains(UInt8(ascii: ".")), text.last?.isDigit == true,
            text.last != UInt8(ascii: "0") || text[point] == UInt8(ascii: "."),
            text.allSatisfy({ $0 | 0x20 != UInt8(ascii: "e") })
        {
            return true
        }
        return text.elementsEqual(value.description.utf8)
    }

    /// Returns whether any of the columns has a value or null.
    func hasAny(of columns: Range<Int>) -> Bool { columns.contains { slots[$0].tag != .absent } }

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

    /// Sets a value to the bytes that `body` appends to the scratch buffer. Returns the result of `body`.
    mutating func setScratch<T>(as tag: RowTag, at index: Int, _ body: (inout [UInt8]) -> T) -> T {
        let offset = scratch.count
        let result = body(&scratch)
        // The offset is stored in the slot, so that the last value is used if a member is repeated.
        slots[index].word = UInt64(offset)
        set(tag, base: nil, count: scratch.count - offset, at: index)
        borrowers.append(index)
        return result
    }

    /// Appends the row to a batch.
    ///
    /// - Returns: The hash of the row's id, or `nil` if the row is too large for a batch.
    mutating func pack(into rows: inout PackedRows, hashing ids: borrowing IDSet) -> UInt64? {
        guard !borrowers.isEmpty else { return packResolved(into: &rows, hashing: ids) }
        // From here on, nothing is appended to the scratch buffer, so it does not move.
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
