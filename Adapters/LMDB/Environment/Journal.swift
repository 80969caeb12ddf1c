/// The changes of a transaction in order, for replay in another transaction.
///
/// Unsafe pointers: every change of a transaction is written here, and an array would check for unique ownership and
/// grow with each part of a change. This noncopyable value owns the memory. Writes are checked against its capacity,
/// and only data written here is read.
struct Journal: ~Copyable {
    private var bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1000, alignment: 8)
    private var count = 0
    /// The end of a prepared change, which follows the recorded ones and becomes one of them with ``keep()``.
    private var preparedEnd = 0

    private static let put: UInt64 = 1
    private static let delete: UInt64 = 2

    /// A recorded change: a value with its checksum put under a key, or a key deleted if the value is `nil`.
    typealias Change = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?)

    deinit { bytes.deallocate() }

    /// Writes a value to put under a key, with its checksum, but does not record it as a change yet.
    ///
    /// - Returns: The value and its checksum, valid until the next change is written.
    mutating func preparePut(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        let length = value.count + Checksum.size
        let start = write(Self.put, key, valueLength: length)
        let room = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<start + length])
        room.copyMemory(from: value)
        room.storeBytes(
            of: Checksum.of(key: key, value: value).littleEndian, toByteOffset: value.count, as: UInt32.self)
        return UnsafeRawBufferPointer(room)
    }

    /// Records the change that was prepared last.
    mutating func keep() { count = preparedEnd }

    mutating func appendDelete(_ key: UnsafeRawBufferPointer) {
        _ = write(Self.delete, key, valueLength: 0)
        keep()
    }

    /// Calls `body` with each change, until it returns `false`.
    func replay(_ body: (Change) throws -> Bool) rethrows {
        var offset = 0
        while offset < count {
            let kind = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let keyCount = bytes.loadUnaligned(fromByteOffset: offset + 8, as: Int.self)
            let valueCount = bytes.loadUnaligned(fromByteOffset: offset + 16, as: Int.self)
            let valueStart = offset + Self.headerSize + keyCount
            let key = UnsafeRawBufferPointer(rebasing: bytes[(offset + Self.headerSize)..<valueStart])
            let value = UnsafeRawBufferPointer(rebasing: bytes[valueStart..<(valueStart + valueCount)])
            guard try body((key, kind == Self.put ? value : nil)) else { return }
            offset = valueStart + valueCount
        }
    }

    private static let headerSize = 24

    /// Writes a change after the recorded ones, except for its value.
    ///
    /// - Returns: The start of its value, for which there is enough capacity.
    @inline(__always)
    private mutating func write(_ kind: UInt64, _ key: UnsafeRawBufferPointer, valueLength: Int) -> Int {
        let keyStart = count + Self.headerSize
        let valueStart = keyStart + key.count
        preparedEnd = valueStart + valueLength
        if preparedEnd > bytes.count { grow(to: preparedEnd) }
        bytes.storeBytes(of: kind, toByteOffset: count, as: UInt64.self)
        bytes.storeBytes(of: key.count, toByteOffset: count + 8, as: Int.self)
        bytes.storeBytes(of: valueLength, toByteOffset: count + 16, as: Int.self)
        UnsafeMutableRawBufferPointer(rebasing: bytes[keyStart..<valueStart]).copyMemory(from: key)
        return valueStart
    }

    private mutating func grow(to needed: Int) {
        let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: max(needed, bytes.count * 2), alignment: 8)
        grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        bytes.deallocate()
        bytes = grown
    }
}
