/// Entries in order of keys, their bytes packed in one buffer: what a node of an ``OrderedMap`` holds.
///
/// Slots are in order, bytes lie where there was room: an entry that goes leaves a hole, and the buffer is packed anew
/// when the holes have become larger than a node.
struct MapEntries: Sendable {
    /// Where an entry lies: its key, and its value directly behind.
    private struct Slot {
        var offset: Int
        var keyCount: Int
        var valueCount: Int

        var byteCount: Int { keyCount + valueCount }
    }

    private var slots: [Slot] = []
    private var bytes: [UInt8] = []
    /// The bytes of all keys and values; `bytes` has the holes besides.
    private(set) var byteCount = 0

    var count: Int { slots.count }
    /// The bytes that no entry has.
    var holeByteCount: Int { bytes.count - byteCount }

    // MARK: Reading

    /// Calls `body` with the key and the value at an index.
    @inline(__always)
    func withEntry<T>(
        at index: Int, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> T
    ) rethrows -> T {
        let slot = slots[index]
        let middle = slot.offset + slot.keyCount
        return try bytes.withUnsafeBytes { bytes in
            try body(
                UnsafeRawBufferPointer(rebasing: bytes[slot.offset..<middle]),
                UnsafeRawBufferPointer(rebasing: bytes[middle..<middle + slot.valueCount]))
        }
    }

    /// The index of a key, or where it would be; it must not come before one that is known.
    func search(_ key: UnsafeRawBufferPointer, from first: Int = 0) -> (index: Int, isFound: Bool) {
        bytes.withUnsafeBytes { bytes in
            var low = first
            var high = slots.count
            while low < high {
                let middle = (low + high) / 2
                let slot = slots[middle]
                let candidate = bytes[slot.offset..<slot.offset + slot.keyCount]
                let order = key.compare(UnsafeRawBufferPointer(rebasing: candidate))
                if order == 0 { return (middle, true) }
                if order < 0 { high = middle } else { low = middle + 1 }
            }
            return (low, false)
        }
    }

    // MARK: Changing

    /// Adds an entry, whose place the caller knows.
    mutating func insert(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, at index: Int) {
        let slot = Slot(offset: bytes.count, keyCount: key.count, valueCount: value.count)
        bytes.append(contentsOf: key)
        bytes.append(contentsOf: value)
        byteCount += slot.byteCount
        slots.insert(slot, at: index)
    }

    /// Gives the entry at an index another value.
    mutating func replaceValue(at index: Int, by value: UnsafeRawBufferPointer) {
        let old = slots[index]
        if old.valueCount == value.count {
            let start = old.offset + old.keyCount
            bytes.withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + value.count]).copyMemory(from: value)
            }
            return
        }
        let new = Slot(offset: bytes.count, keyCount: old.keyCount, valueCount: value.count)
        bytes.reserveCapacity(bytes.count + new.byteCount)
        bytes.append(contentsOf: bytes[old.offset..<old.offset + old.keyCount])
        bytes.append(contentsOf: value)
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

    /// A packed copy of some of the entries.
    func part(_ range: Range<Int>) -> MapEntries {
        var part = MapEntries()
        part.append(self, range)
        return part
    }

    /// Adds entries that come after all there are.
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

    /// The index that divides the bytes most evenly, with an entry at least on each side; there must be two.
    var evenDivision: Int {
        var left = 0
        for index in 0..<count - 1 {
            left += slots[index].byteCount
            let next = slots[index + 1].byteCount
            // With the next entry, too, the left part would be larger than the right is now.
            if left + next > byteCount - left { return index + 1 }
        }
        return count - 1
    }
}
