internal import TidelineStore

/// The key of a row, put together in memory that is made once: for who goes from one row to the next.
///
/// Unsafe pointers: an array would check for unique ownership and grow at every part. The memory belongs to this one
/// noncopyable value; what ``set(id:of:)`` gives is valid until the next call, or until the value ends.
struct RowKey: ~Copyable {
    /// Ids have 255 characters at most, of up to four bytes.
    static let maximumIDLength = 255 * 4
    static let maximumLength = KeySpace.length + maximumIDLength

    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: maximumLength, alignment: 8)

    /// A key of rows of the table; it has no id yet.
    init(of table: StoredTable) { Self.begin(table, in: room) }

    deinit { room.deallocate() }

    /// The key of the row of an id, given as a ``RowView`` has it: UTF-8, or eight little-endian bytes. Nil when the id is
    /// longer than any is.
    mutating func set(id: UnsafeRawBufferPointer, of ids: IDRule) -> UnsafeRawBufferPointer? {
        Self.add(id, of: ids, to: room)
    }

    /// Writes a table's space.
    fileprivate static func begin(_ table: StoredTable, in room: UnsafeMutableRawBufferPointer) {
        room.storeBytes(of: table.rows.number.bigEndian, as: UInt32.self)
    }

    /// Writes an id behind the space; nil when it is longer than any is.
    @inline(__always)
    fileprivate static func add(
        _ id: UnsafeRawBufferPointer, of ids: IDRule, to room: UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        guard id.count <= maximumIDLength else { return nil }
        let keyed = UnsafeMutableRawBufferPointer(rebasing: room[KeySpace.length..<KeySpace.length + id.count])
        switch ids {
        case .exact: keyed.copyMemory(from: id)
        case .folded: keyed.copyFolded(from: id)
        case .int:
            let number = Int64(littleEndian: id.loadUnaligned(as: Int64.self))
            keyed.storeBytes(of: KeyBuilder.ordered(number).bigEndian, as: UInt64.self)
        }
        return UnsafeRawBufferPointer(rebasing: room[..<(KeySpace.length + id.count)])
    }
}

extension StoredTable {
    /// Calls `body` with the key of the row of an id; an id of another type, or longer than any is, finds none.
    /// - Returns: What `body` returned, false when it was not called.
    func withKey(of id: RowID, _ body: (UnsafeRawBufferPointer) throws -> Bool) throws -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: RowKey.maximumLength, alignment: 8) { room in
            guard let key = RowKey.make(id, of: self, in: room) else { return false }
            return try body(key)
        }
    }
}

extension RowKey {
    fileprivate static func make(
        _ id: RowID, of table: StoredTable, in room: UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        guard id.type == table.ids.type else { return nil }
        begin(table, in: room)
        switch id {
        case .int(let number): return withUnsafeBytes(of: number.littleEndian) { add($0, of: .int, to: room) }
        case .string(let text):
            // A text that is native, as most are, is not copied.
            let ids = table.ids
            let key = text.utf8.withContiguousStorageIfAvailable { add(UnsafeRawBufferPointer($0), of: ids, to: room) }
            return key ?? Array(text.utf8).withUnsafeBytes { add($0, of: ids, to: room) }
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Copies bytes with `A`–`Z` made `a`–`z`; there is room for them.
    @inline(__always)
    fileprivate func copyFolded(from bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8 else {
            for index in 0..<bytes.count { self[index] = bytes[index].asciiFolded }
            return
        }
        // The last eight bytes may be folded a second time.
        let last = bytes.count &- 8
        var offset = 0
        while offset < last {
            copyFoldedWord(from: bytes, at: offset)
            offset &+= 8
        }
        copyFoldedWord(from: bytes, at: last)
    }

    @inline(__always)
    private func copyFoldedWord(from bytes: UnsafeRawBufferPointer, at offset: Int) {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        storeBytes(of: word.asciiFolded, toByteOffset: offset, as: UInt64.self)
    }
}

extension UInt64 {
    /// Eight bytes with `A`–`Z` made `a`–`z`, all at once.
    ///
    /// The top bit of a byte tells what its other seven are not below: 0x80 less `A`, less the byte after `Z`. Bytes above
    /// 0x7F stay as they are.
    var asciiFolded: UInt64 {
        let low = self & 0x7F7F_7F7F_7F7F_7F7F
        let notBelowA = low &+ 0x3F3F_3F3F_3F3F_3F3F
        let aboveZ = low &+ 0x2525_2525_2525_2525
        return self | (notBelowA & ~aboveZ & ~self & 0x8080_8080_8080_8080) >> 2
    }
}
