/// The changes of an ``OverlayTransaction``: one behind the other in one stretch of memory, found by the hashes of their
/// keys, and put in order only for who goes over them in order.
///
/// Unsafe pointers: the memory belongs to this one noncopyable value. What is read of it is borrowed until the next change;
/// places in it come from ``append(_:_:room:_:)`` alone.
struct OverlayChanges: ~Copyable {
    /// What became of a key.
    enum Change {
        case unchanged, removed
        /// Its value is borrowed until the next change.
        case stored(UnsafeRawBufferPointer)
    }

    /// Where a change lies in the memory: this, the key, and room for a value.
    private struct Entry {
        static let size = 32
        var hash: UInt64
        var keyCount: Int
        /// The bytes that the value may have without being moved.
        var room: Int
        /// The bytes of the value, or one of the marks below.
        var valueCount: Int

        static let removed = -1
        /// The key was changed again, and its value lies elsewhere.
        static let moved = -2

        /// Where the next one begins.
        var stride: Int { (Entry.size &+ keyCount &+ room &+ 7) & ~7 }
    }

    /// A place in the table of hashes; free when `place` is below zero.
    private struct Slot {
        var hash: UInt64
        var place: Int
    }

    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 8)
    private var used = 0
    /// Open addressing; the number of slots is a power of two, and a quarter of them at least is free.
    private var slots = OverlayChanges.makeSlots(16)
    /// How many keys were changed.
    private(set) var count = 0
    /// The bytes that its memory takes.
    var size: Int { memory.count + slots.count * MemoryLayout<Slot>.stride }
    /// Those of a space that somebody went over in order, and under nil all of them.
    private var orders: [UInt32?: Order] = [:]

    /// Keys in order, each with the place of its entry; without the entries from `end` on.
    private struct Order {
        var keys = OrderedMap()
        var end = 0
    }

    deinit {
        memory.deallocate()
        slots.deallocate()
    }

    // MARK: Reading

    /// What became of a key.
    func change(of key: UnsafeRawBufferPointer, hash: UInt64) -> Change {
        let place = slots[slot(of: key, hash)].place
        return place < 0 ? .unchanged : change(at: place)
    }

    /// What became of the key of the entry at a place.
    @inline(__always)
    func change(at place: Int) -> Change {
        let entry = entry(at: place)
        return entry.valueCount < 0 ? .removed : .stored(value(at: place, entry))
    }

    /// Calls `body` with each key, its value, nil for one that was removed, and its hash, in the order in which they came.
    func forEach(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ hash: UInt64) throws -> Void
    ) rethrows {
        var place = 0
        while place < used {
            let entry = entry(at: place)
            if entry.valueCount != Entry.moved {
                try body(key(at: place, entry), entry.valueCount < 0 ? nil : value(at: place, entry), entry.hash)
            }
            place &+= entry.stride
        }
    }

    /// The changed keys in order, each with the place of its change as ``place(_:)`` reads it: those of a range, perhaps with
    /// others beside it, or all.
    ///
    /// Who writes a thousand rows of one table, then asks for a row of another, has that one's keys put in order, not the
    /// thousand.
    mutating func inOrder(within range: KeyRange? = nil) -> OrderedMap {
        let space = range.flatMap(Self.space)
        var order = orders.removeValue(forKey: space) ?? Order()
        while order.end < used {
            let entry = entry(at: order.end)
            let key = key(at: order.end, entry)
            if entry.valueCount != Entry.moved, space == nil || Self.space(of: key) == space {
                withUnsafeBytes(of: order.end) { order.keys.put(key, $0) }
            }
            order.end += entry.stride
        }
        orders[space] = order
        return order.keys
    }

    /// The first four bytes that all keys of a range have, in which tables and indexes differ; nil when they have not.
    private static func space(of range: KeyRange) -> UInt32? {
        guard let space = range.lower.withUnsafeBytes(Self.space) else { return nil }
        if range.upper.withUnsafeBytes(Self.space) == space, range.upper.count > 4 { return space }
        // The first key behind the space may have lost bytes at its end. With a zero there, a shorter key comes before it.
        guard range.upper.count <= 4, range.upper.last != 0 else { return nil }
        let upper = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32($1 < range.upper.count ? range.upper[$1] : 0) }
        return upper &- space == 1 ? space : nil
    }

    /// The first four bytes of a key; nil when it is shorter.
    private static func space(of key: UnsafeRawBufferPointer) -> UInt32? {
        key.count < 4 ? nil : UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))
    }

    /// The place that ``inOrder(within:)`` has under a key.
    static func place(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.loadUnaligned(as: Int.self) }

    // MARK: Changing

    mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, hash: UInt64) {
        let slot = slot(of: key, hash)
        let place = slots[slot].place
        guard place >= 0 else {
            slots[slot] = Slot(hash: hash, place: append(key, value, room: value.count, hash))
            return noteAdded()
        }
        var entry = entry(at: place)
        if value.count <= entry.room {
            entry.valueCount = value.count
            set(entry, at: place)
            copy(value, to: place + Entry.size + entry.keyCount)
        } else {
            // With room to grow: a value that does so again and again shall not leave its traces behind each time.
            slots[slot].place = append(key, value, room: max(value.count, entry.room * 2), hash)
            entry.valueCount = Entry.moved
            set(entry, at: place)
        }
    }

    mutating func remove(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        let slot = slot(of: key, hash)
        let isNew = slots[slot].place < 0
        if isNew {
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            slots[slot] = Slot(hash: hash, place: append(key, none, room: 0, hash))
        }
        var entry = entry(at: slots[slot].place)
        entry.valueCount = Entry.removed
        set(entry, at: slots[slot].place)
        if isNew { noteAdded() }
    }

    /// Adds an entry behind all there are.
    /// - Returns: Its place.
    private mutating func append(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, room: Int, _ hash: UInt64
    ) -> Int {
        let place = used
        let entry = Entry(hash: hash, keyCount: key.count, room: room, valueCount: value.count)
        used += entry.stride
        if used > memory.count { growMemory() }
        set(entry, at: place)
        copy(key, to: place + Entry.size)
        copy(value, to: place + Entry.size + key.count)
        return place
    }

    private mutating func growMemory() {
        let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: max(used, memory.count * 2), alignment: 8)
        grown.copyMemory(from: UnsafeRawBufferPointer(memory))
        memory.deallocate()
        memory = grown
    }

    private mutating func noteAdded() {
        count += 1
        if count > slots.count / 4 * 3 { growSlots() }
    }

    private mutating func growSlots() {
        let old = slots
        slots = Self.makeSlots(old.count * 4)
        for slot in old where slot.place >= 0 {
            var index = first(slot.hash)
            while slots[index].place >= 0 { index = next(index) }
            slots[index] = slot
        }
        old.deallocate()
    }

    // MARK: Memory

    private static func makeSlots(_ count: Int) -> UnsafeMutableBufferPointer<Slot> {
        let slots = UnsafeMutableBufferPointer<Slot>.allocate(capacity: count)
        slots.initialize(repeating: Slot(hash: 0, place: -1))
        return slots
    }

    /// The slot of a key, or the free one that it can have.
    private func slot(of key: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
        var index = first(hash)
        while slots[index].place >= 0 {
            let slot = slots[index]
            if slot.hash == hash, self.key(at: slot.place, entry(at: slot.place)).compare(key) == 0 { return index }
            index = next(index)
        }
        return index
    }

    private func first(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slots.count &- 1) }
    private func next(_ index: Int) -> Int { (index &+ 1) & (slots.count &- 1) }

    private func entry(at place: Int) -> Entry { memory.load(fromByteOffset: place, as: Entry.self) }
    private func set(_ entry: Entry, at place: Int) {
        memory.storeBytes(of: entry, toByteOffset: place, as: Entry.self)
    }

    private func copy(_ bytes: UnsafeRawBufferPointer, to place: Int) {
        UnsafeMutableRawBufferPointer(rebasing: memory[place...]).copyMemory(from: bytes)
    }

    private func key(at place: Int, _ entry: Entry) -> UnsafeRawBufferPointer {
        bytes(place &+ Entry.size, entry.keyCount)
    }

    private func value(at place: Int, _ entry: Entry) -> UnsafeRawBufferPointer {
        bytes(place &+ Entry.size &+ entry.keyCount, entry.valueCount)
    }

    private func bytes(_ place: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: memory[place..<place &+ count])
    }
}
