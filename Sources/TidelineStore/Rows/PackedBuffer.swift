/// A growable buffer of bytes with a single owner.
///
/// Unsafe pointers: an array would check unique ownership and bounds for every byte that the parser writes. Here each
/// access is checked once per value against the bytes in use.
///
/// Sendable: the bytes belong to this noncopyable value, so only its owner can change them, and borrowers can only read
/// them.
@safe
@usableFromInline
struct PackedBuffer: ~Copyable, @unchecked Sendable {
    @usableFromInline var base: UnsafeMutableRawPointer
    @usableFromInline var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(capacity, 256)
        unsafe base = .allocate(byteCount: self.capacity, alignment: 16)
    }

    @inlinable
    deinit { unsafe base.deallocate() }

    /// Returns the `length` bytes from `offset`.
    subscript(offset: Int, length: Int) -> UnsafeRawBufferPointer {
        precondition(offset >= 0 && length >= 0 && offset + length <= count, "out of bounds of the buffer")
        return unsafe UnsafeRawBufferPointer(start: base + offset, count: length)
    }

    /// Returns the `length` bytes from `offset` for writing.
    mutating func mutable(_ offset: Int, _ length: Int) -> UnsafeMutableRawBufferPointer {
        precondition(offset >= 0 && length >= 0 && offset + length <= count, "out of bounds of the buffer")
        return unsafe UnsafeMutableRawBufferPointer(start: base + offset, count: length)
    }

    /// Removes the bytes after the first `newCount`.
    mutating func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count, "out of bounds of the buffer")
        count = newCount
    }

    /// Adds uninitialized bytes.
    @inline(__always)
    mutating func grow(by bytes: Int) {
        let needed = count + bytes
        if needed > capacity { reallocate(max(needed, capacity * 2)) }
        count = needed
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let start = count
        grow(by: bytes.count)
        if let source = bytes.baseAddress { unsafe (base + start).copyMemory(from: source, byteCount: bytes.count) }
    }

    func store<T: FixedWidthInteger>(_ value: T, at offset: Int) {
        precondition(offset >= 0 && offset + MemoryLayout<T>.size <= count, "out of bounds of the buffer")
        unsafe (base + offset).storeBytes(of: value.littleEndian, as: T.self)
    }

    @inline(never)
    private mutating func reallocate(_ newCapacity: Int) {
        let new = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        unsafe new.copyMemory(from: base, byteCount: count)
        unsafe base.deallocate()
        unsafe base = new
        capacity = newCapacity
    }
}
