/// The changes of a transaction in their order, to make them again in another.
struct Journal {
    private var bytes: [UInt8] = []

    private static let put: UInt8 = 1
    private static let delete: UInt8 = 2
    /// More than this is given back to the system after a transaction.
    private static let keptCapacity = 1 << 22

    /// A change made: a value put under a key, or a key deleted when the value is nil.
    typealias Change = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?)

    mutating func appendPut(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        appendHeader(Self.put, key.count, value.count)
        bytes.append(contentsOf: key)
        bytes.append(contentsOf: value)
    }

    mutating func appendDelete(_ key: UnsafeRawBufferPointer) {
        appendHeader(Self.delete, key.count, 0)
        bytes.append(contentsOf: key)
    }

    /// Calls `body` with each change, until it returns false.
    func replay(_ body: (Change) throws -> Bool) rethrows {
        try bytes.withUnsafeBytes { buffer in
            var offset = 0
            while offset < buffer.count {
                let keyCount = Int(buffer.loadUnaligned(fromByteOffset: offset + 1, as: UInt32.self))
                let valueCount = Int(buffer.loadUnaligned(fromByteOffset: offset + 5, as: UInt32.self))
                let valueStart = offset + Self.headerSize + keyCount
                let key = UnsafeRawBufferPointer(rebasing: buffer[(offset + Self.headerSize)..<valueStart])
                let value = UnsafeRawBufferPointer(rebasing: buffer[valueStart..<(valueStart + valueCount)])
                guard try body((key, buffer[offset] == Self.put ? value : nil)) else { return }
                offset = valueStart + valueCount
            }
        }
    }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptCapacity)
    }

    private static let headerSize = 9

    /// Counts have 32 bits: LMDB takes no more.
    private mutating func appendHeader(_ kind: UInt8, _ keyCount: Int, _ valueCount: Int) {
        let counts = (UInt32(truncatingIfNeeded: keyCount), UInt32(truncatingIfNeeded: valueCount))
        bytes.append(kind)
        withUnsafeBytes(of: counts) { bytes.append(contentsOf: $0) }
    }
}
