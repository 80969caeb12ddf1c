internal import TidelineStore

/// A branch or leaf page whose bounds have been checked.
struct PageView {
    let number: UInt
    let bytes: UnsafeRawBufferPointer
    let isBranch: Bool
    /// The number of nodes.
    let count: Int

    /// One entry of a page, within its bounds.
    struct Node {
        let bytes: UnsafeRawBufferPointer
        let keySize: Int

        var flags: UInt16 { bytes.half(at: FileLayout.nodeFlags) }
        var key: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: bytes[FileLayout.node..<(FileLayout.node + keySize)])
        }
        /// The bytes after the key: the data, or the number of its first overflow page.
        var data: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[(FileLayout.node + keySize)...]) }
        /// Stored as two halves, which can be read as one 32-bit number in the machine's byte order.
        var dataSize: Int { Int(bytes.loadUnaligned(as: UInt32.self)) }
        var isBig: Bool { flags & FileLayout.nodeBigData != 0 }

        /// The child page of a branch node.
        var child: UInt {
            let low = UInt(bytes.loadUnaligned(as: UInt32.self))
            return FileLayout.word == 8 ? low | UInt(flags) << 32 : low
        }
    }

    /// - Throws: ``StoreError/Code/corrupt`` if the header is not that of a branch or leaf with this page number.
    init(_ bytes: UnsafeRawBufferPointer, number: UInt, path: String) throws(StoreError) {
        self.number = number
        self.bytes = bytes
        let flags = bytes.half(at: FileLayout.pageFlags)
        let lower = Int(bytes.half(at: FileLayout.pageLower))
        let upper = Int(bytes.half(at: FileLayout.pageUpper))
        guard bytes.word(at: 0) == number, flags == FileLayout.branchPage || flags == FileLayout.leafPage else {
            throw .damaged("page \(number) has a wrong header", path: path)
        }
        guard lower >= FileLayout.pageHeader, lower & 1 == 0, lower <= upper, upper <= bytes.count else {
            throw .damaged("page \(number) has invalid bounds", path: path)
        }
        isBranch = flags == FileLayout.branchPage
        count = (lower - FileLayout.pageHeader) / 2
        try requireNoGaps(from: upper, path: path)
    }

    /// Verifies that nodes fill the page from its upper bound to its end; the next insertion relies on that.
    private func requireNoGaps(from upper: Int, path: String) throws(StoreError) {
        var lowest = bytes.count
        var total = 0
        for index in 0..<count {
            let (offset, size) = try place(of: index, path: path)
            lowest = min(lowest, offset)
            total += size + size & 1
        }
        guard lowest == upper, total == bytes.count - upper else {
            throw .damaged("the entries of page \(number) have gaps or overlap", path: path)
        }
    }

    /// Returns the offset and size in bytes of a node.
    private func place(of index: Int, path: String) throws(StoreError) -> (offset: Int, size: Int) {
        let offset = Int(bytes.half(at: FileLayout.pageHeader + 2 * index))
        guard offset & 1 == 0, offset >= FileLayout.pageHeader, offset + FileLayout.node <= bytes.count else {
            throw .damaged("entry \(index) of page \(number) is outside the page", path: path)
        }
        let keySize = Int(bytes.half(at: offset + FileLayout.nodeKeySize))
        var size = FileLayout.node + keySize
        if !isBranch {
            let isBig = bytes.half(at: offset + FileLayout.nodeFlags) & FileLayout.nodeBigData != 0
            let dataSize = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            size += isBig ? FileLayout.word : Int(dataSize)
        }
        guard offset + size <= bytes.count else {
            throw .damaged("entry \(index) of page \(number) extends beyond the page", path: path)
        }
        return (offset, size)
    }

    /// Returns the node at an index below ``count``.
    func node(_ index: Int, path: String) throws(StoreError) -> Node {
        let (offset, size) = try place(of: index, path: path)
        return Node(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + size)]),
            keySize: Int(bytes.half(at: offset + FileLayout.nodeKeySize)))
    }
}
