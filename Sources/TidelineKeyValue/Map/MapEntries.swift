internal import TidelineStore

/// The entries of a node of an ``OrderedMap``, ordered by key, with their bytes packed in one buffer.
///
/// Slots are in key order, but bytes are in the order of insertion. A removed entry leaves a hole, and the buffer is
/// compacted when the holes exceed the size of a node.
struct MapEntries: Sendable {
    /// The location of an entry: its key, immediately followed by its value.
    private struct Slot {
        var offset: Int
        var keyCount: Int
        var valueCount: Int

        var byteCount: Int { keyCount + valueCount }
    }

    private var slots: [Slot] = []
    private var bytes: [UInt8] = []
    /// The number of bytes of all keys and values, without the holes in `bytes`.
    private(set) var byteCount = 0

    var count: Int { slots.count }
    var holeByteCount: Int { bytes.count - byteCount }

    // MARK: Reading

    /// Calls `body` with the key and value at an index.
    @inline(__always)
    func withEntry<T>(
        at index: Int, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> T
    ) rethrows -> T {
        let slot = slots[index]
        let middle = slot.offset + slot.keyCount
        return try unsafe bytes.withUnsafeBytes { bytes in
            try unsafe body(
                UnsafeRawBufferPointer(rebasing: bytes[slot.offset..<middle]),
                UnsafeRawBufferPointer(rebasing: bytes[middle..<middle + slot.valueCount]))
        }
    }

    /// Returns the index of a key or its insertion point. The result must not be less than `first`.
    func search(_ key: UnsafeRawBufferPointer, from first: Int = 0) -> (index: Int, isFound: Bool) {
        unsafe bytes.withUnsafeBytes { bytes in
            var low = first
            var high = slots.count
            while low < high {
                let middle = (low + high) / 2
                let slot = slots[middle]
                let candidate = unsafe bytes[slot.offset..<slot.offset + slot.keyCount]
                let order = unsafe key.compare(UnsafeRawBufferPointer(rebasing: candidate))
                if order == 0 { return (middle, true) }
                if order < 0 { high = middle } else { low = middle + 1 }
            }
            return (low, false)
        }
    }

    // MARK: Changing

    /// Inserts an entry at its position, which the caller determined.
    mutating func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, at index: Int) {
        let slot = Slot(offset: bytes.count, keyCount: key.count, valueCount: value.count)
        unsafe bytes.append(contentsOf: key)
        unsafe bytes.append(contentsOf: value)
        byteCount += slot.byteCount
        slots.insert(slot, at: index)
    }

    mutating func replaceValue(at index: Int, by value: UnsafeRawBufferPointer) {
        let old = slots[index]
        if old.valueCount == value.count {
            let start = old.offset + old.keyCount
            unsafe bytes.withUnsafeMutableBytes { bytes in
                unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + value.count]).copyMemory(
                    from: value)
            }
            return
        }
        let new = Slot(offset: bytes.count, keyCount: old.keyCount, valueCount: value.count)
        bytes.reserveCapacity(bytes.count + new.byteCount)
        bytes.append(contentsOf: bytes[old.offset..<old.offset + old.keyCount])
        unsafe bytes.append(contentsOf: value)
        byteCount += new.byteCount - old.byteCount
        slots[index] = new
        closeHoles()
    }

    mutating func remove(at index: Int) {
        byteCount -= slots.remove(at: index).byteCount
        closeHoles()
    }

    private mutating func closeHoles() {
        if holeByteCount > MapNode.maximumByteCount { self = part(0..<count) }
    }

    // MARK: Dividing and joining

    /// Returns a compact copy of some of the entries.
    func part(_ range: Range<Int>) -> MapEntries {
        var part = MapEntries()
        part.append(self, range)
        return part
    }

    /// Appends entries whose keys are greater than all existing keys.
    mutating func append(_ other: MapEntries) { append(other, 0..<other.count) }

    private mutating func append(_ other: MapEntries, _ range: Range<Int>) {
        let added = other.slots[range].reduce(0) { $0 + $1.byteCount }
        slots.reserveCapacity(slots.count + range.count)
        bytes.reserveCapacity(bytes.count + added)
        for var slot in other.slots[range] {
            let source = slot.offset..<slot.offset + slot.byteCount
            slot.offset = bytes.count
            bytes.append(contentsOf: other.bytes[source])
            slots.append(slot)
        }
        byteCount += added
    }

    /// The index that splits the bytes most evenly, with at least one entry on each side. There must be two entries.
    var evenDivision: Int {
        var left = 0
        for index in 0..<count - 1 {
            left += slots[index].byteCount
            let next = slots[index + 1].byteCount
            // With the next entry, the left part would be larger than the right part is now.
            if left + next > byteCount - left { return index + 1 }
        }
        return count - 1
    }
}
