internal import TidelineStore

/// The changes of an ``OverlayTransaction``, stored in sequence in one block of memory, found by the hashes of their
/// keys, and sorted only on request.
///
/// Unsafe pointers: the memory belongs to this noncopyable value. Bytes read from it are borrowed until the next
/// change. Only ``append(_:_:room:_:)`` returns places in it.
@safe
package struct OverlayChanges: ~Copyable {
    /// The change of a key.
    @safe
    package enum Change {
        case unchanged, removed
        /// The key was stored. Its value is borrowed until the next change.
        case stored(UnsafeRawBufferPointer)
    }

    /// The header of a change in memory, which is followed by the key and the space for a value.
    private struct Entry {
        static let size = 32
        var hash: UInt64
        var keyCount: Int
        /// The number of bytes that the value may have without being moved.
        var room: Int
        /// The number of bytes of the value, or one of the markers below.
        var valueCount: Int

        static let removed = -1
        /// The key was changed again, and its value is elsewhere.
        static let moved = -2

        /// The distance to the next entry.
        var stride: Int { (Entry.size &+ keyCount &+ room &+ 7) & ~7 }
    }

    /// A slot of the hash table, which is free if `place` is negative.
    private struct Slot {
        var hash: UInt64
        var place: Int
    }

    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 8)
    private var used = 0
    /// The hash table with open addressing. The number of slots is a power of two, and at least a quarter of them are
    /// free.
    private var slots = unsafe OverlayChanges.makeSlots(16)
    /// The number of changed keys.
    package private(set) var count = 0
    /// The number of bytes of memory in use.
    package var size: Int { unsafe memory.count + slots.count * MemoryLayout<Slot>.stride }
    /// The sorted keys of each space that was scanned in order, and of all spaces under the key `nil`.
    private var orders: [UInt32?: Order] = [:]

    /// Sorted keys, each with the place of its entry, excluding the entries from `end` on.
    private struct Order {
        var keys = OrderedMap()
        var end = 0
    }

    package init() {}

    deinit {
        unsafe memory.deallocate()
        unsafe slots.deallocate()
    }

    // MARK: Reading

    package func change(of key: UnsafeRawBufferPointer, hash: UInt64) -> Change {
        let place = unsafe slots[slot(of: key, hash)].place
        return place < 0 ? .unchanged : change(at: place)
    }

    @inline(__always)
    func change(at place: Int) -> Change {
        let entry = entry(at: place)
        return unsafe entry.valueCount < 0 ? .removed : .stored(value(at: place, entry))
    }

    /// Calls `body` with each key, its value, or `nil` if it was removed, and its hash, in the order of insertion.
    func forEach(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ hash: UInt64) throws -> Void
    ) rethrows {
        var place = 0
        while place < used {
            let entry = entry(at: place)
            if entry.valueCount != Entry.moved {
                try unsafe body(key(at: place, entry), entry.valueCount < 0 ? nil : value(at: place, entry), entry.hash)
            }
            place &+= entry.stride
        }
    }

    /// Returns the changed keys in order, each with the place of its change as read by ``place(_:)``.
    ///
    /// If a range is given, the result contains at least the keys in that range. A transaction that writes a thousand
    /// rows of one table and then scans another therefore sorts only the keys of the other.
    mutating func inOrder(within range: KeyRange? = nil) -> OrderedMap {
        let space = range.flatMap(Self.space)
        var order = orders.removeValue(forKey: space) ?? Order()
        while order.end < used {
            let entry = entry(at: order.end)
            let key = unsafe key(at: order.end, entry)
            if entry.valueCount != Entry.moved, unsafe space == nil || Self.space(of: key) == space {
                unsafe withUnsafeBytes(of: order.end) { unsafe order.keys.put(key, $0) }
            }
            order.end += entry.stride
        }
        orders[space] = order
        return order.keys
    }

    /// Returns the first four bytes that all keys of a range share, which identify a table or index, or `nil` if they
    /// differ.
    private static func space(of range: KeyRange) -> UInt32? {
        guard let space = unsafe range.lower.withUnsafeBytes(Self.space) else { return nil }
        if unsafe range.upper.withUnsafeBytes(Self.space) == space, range.upper.count > 4 { return space }
        // The first key after the space may lack trailing bytes. If it ended in a zero, a shorter key would precede it.
        guard range.upper.count <= 4, range.upper.last != 0 else { return nil }
        let upper = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32($1 < range.upper.count ? range.upper[$1] : 0) }
        return upper &- space == 1 ? space : nil
    }

    /// Returns the first four bytes of a key, or `nil` if the key is shorter.
    private static func space(of key: UnsafeRawBufferPointer) -> UInt32? {
        unsafe key.count < 4 ? nil : UInt32(bigEndian: key.loadUnaligned(as: UInt32.self))
    }

    /// Returns the place stored for a key in the result of ``inOrder(within:)``.
    static func place(_ bytes: UnsafeRawBufferPointer) -> Int { unsafe bytes.loadUnaligned(as: Int.self) }

    // MARK: Changing

    package mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, hash: UInt64) {
        let slot = unsafe slot(of: key, hash)
        let place = unsafe slots[slot].place
        guard place >= 0 else {
            unsafe slots[slot] = Slot(hash: hash, place: append(key, value, room: value.count, hash))
            return noteAdded()
        }
        var entry = entry(at: place)
        if value.count <= entry.room {
            entry.valueCount = value.count
            set(entry, at: place)
            unsafe copy(value, to: place + Entry.size + entry.keyCount)
        } else {
            // Reserve space, so that a value that grows repeatedly does not leave old copies behind each time.
            unsafe slots[slot].place = append(key, value, room: max(value.count, entry.room * 2), hash)
            entry.valueCount = Entry.moved
            set(entry, at: place)
        }
    }

    package mutating func remove(_ key: UnsafeRawBufferPointer, hash: UInt64) {
        let slot = unsafe slot(of: key, hash)
        let isNew = unsafe slots[slot].place < 0
        if isNew {
            let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
            unsafe slots[slot] = Slot(hash: hash, place: append(key, none, room: 0, hash))
        }
        var entry = unsafe entry(at: slots[slot].place)
        entry.valueCount = Entry.removed
        unsafe set(entry, at: slots[slot].place)
        if isNew { noteAdded() }
    }

    /// Appends an entry.
    /// - Returns: The place of the entry.
    private mutating func append(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, room: Int, _ hash: UInt64
    ) -> Int {
        let place = used
        let entry = Entry(hash: hash, keyCount: key.count, room: room, valueCount: value.count)
        used += entry.stride
        if unsafe used > memory.count { growMemory() }
        set(entry, at: place)
        unsafe copy(key, to: place + Entry.size)
        unsafe copy(value, to: place + Entry.size + key.count)
        return place
    }

    private mutating func growMemory() {
        let grown = unsafe UnsafeMutableRawBufferPointer.allocate(byteCount: max(used, memory.count * 2), alignment: 8)
        unsafe grown.copyMemory(from: UnsafeRawBufferPointer(memory))
        unsafe memory.deallocate()
        unsafe memory = grown
    }

    private mutating func noteAdded() {
        count += 1
        if unsafe count > slots.count / 4 * 3 { growSlots() }
    }

    private mutating func growSlots() {
        let old = unsafe slots
        unsafe slots = Self.makeSlots(old.count * 4)
        for position in old.indices {
            let slot = unsafe old[position]
            guard slot.place >= 0 else { continue }
            var index = first(slot.hash)
            while unsafe slots[index].place >= 0 { index = next(index) }
            unsafe slots[index] = slot
        }
        unsafe old.deallocate()
    }

    // MARK: Memory

    private static func makeSlots(_ count: Int) -> UnsafeMutableBufferPointer<Slot> {
        let slots = UnsafeMutableBufferPointer<Slot>.allocate(capacity: count)
        unsafe slots.initialize(repeating: Slot(hash: 0, place: -1))
        return unsafe slots
    }

    /// Returns the slot of a key, or the free slot in which it can be inserted.
    private func slot(of key: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
        var index = first(hash)
        while unsafe slots[index].place >= 0 {
            let slot = unsafe slots[index]
            if slot.hash == hash, unsafe self.key(at: slot.place, entry(at: slot.place)).compare(key) == 0 {
                return index
            }
            index = next(index)
        }
        return index
    }

    private func first(_ hash: UInt64) -> Int { unsafe Int(truncatingIfNeeded: hash) & (slots.count &- 1) }
    private func next(_ index: Int) -> Int { unsafe (index &+ 1) & (slots.count &- 1) }

    private func entry(at place: Int) -> Entry { unsafe memory.load(fromByteOffset: place, as: Entry.self) }
    private func set(_ entry: Entry, at place: Int) {
        unsafe memory.storeBytes(of: entry, toByteOffset: place, as: Entry.self)
    }

    private func copy(_ bytes: UnsafeRawBufferPointer, to place: Int) {
        unsafe UnsafeMutableRawBufferPointer(rebasing: memory[place...]).copyMemory(from: bytes)
    }

    private func key(at place: Int, _ entry: Entry) -> UnsafeRawBufferPointer {
        unsafe bytes(place &+ Entry.size, entry.keyCount)
    }

    private func value(at place: Int, _ entry: Entry) -> UnsafeRawBufferPointer {
        unsafe bytes(place &+ Entry.size &+ entry.keyCount, entry.valueCount)
    }

    private func bytes(_ place: Int, _ count: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: memory[place..<place &+ count])
    }
}
