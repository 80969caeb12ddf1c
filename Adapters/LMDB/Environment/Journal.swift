/// The changes of a transaction in their order, to make them again in another.
///
/// Unsafe pointers: every change of a transaction is written here, and an array would check for unique ownership and grow
/// at each of its parts. The memory belongs to this one noncopyable value; what is written is checked against its
/// capacity, and what is read was written here.
struct Journal: ~Copyable {
    private var bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 12, alignment: 8)
    private var count = 0

    private static let put: UInt64 = 1
    private static let delete: UInt64 = 2

    /// A change made: a value put under a key, or a key deleted when the value is nil.
    typealias Change = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?)

    deinit { bytes.deallocate() }

    mutating func appendPut(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        append(Self.put, key, value)
    }

    mutating func appendDelete(_ key: UnsafeRawBufferPointer) {
        append(Self.delete, key, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Calls `body` with each change, until it returns false.
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

    @inline(__always)
    private mutating func append(_ kind: UInt64, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let keyStart = count + Self.headerSize
        let end = keyStart + key.count + value.count
        if end > bytes.count { grow(to: end) }
        bytes.storeBytes(of: kind, toByteOffset: count, as: UInt64.self)
        bytes.storeBytes(of: key.count, toByteOffset: count + 8, as: Int.self)
        bytes.storeBytes(of: value.count, toByteOffset: count + 16, as: Int.self)
        UnsafeMutableRawBufferPointer(rebasing: bytes[keyStart...]).copyMemory(from: key)
        UnsafeMutableRawBufferPointer(rebasing: bytes[(keyStart + key.count)...]).copyMemory(from: value)
        count = end
    }

    private mutating func grow(to needed: Int) {
        let grown = UnsafeMutableRawBufferPointer.allocate(byteCount: max(needed, bytes.count * 2), alignment: 8)
        grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        bytes.deallocate()
        bytes = grown
    }
}
