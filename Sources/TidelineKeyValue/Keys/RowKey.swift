internal import TidelineStore

/// A reusable buffer for the keys of rows, for code that processes many rows in sequence.
///
/// Unsafe pointers: an array would check unique ownership and grow for every part. The memory belongs to this
/// noncopyable value. The result of ``set(id:of:)`` is valid until the next call or the end of the value.
@safe
struct RowKey: ~Copyable {
    /// The maximum length of an identifier in bytes: 255 characters of up to four bytes.
    static let maximumIDLength = 255 * 4
    static let maximumLength = KeySpace.length + maximumIDLength

    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: maximumLength, alignment: 8)

    /// Creates a key for rows of the table, without an identifier.
    init(of table: StoredTable) { unsafe Self.begin(table, in: room) }

    deinit { unsafe room.deallocate() }

    /// Returns the key of the row with the given identifier, or `nil` if the identifier is too long.
    ///
    /// The identifier has the form that ``RowView`` uses: UTF-8, or eight little-endian bytes.
    mutating func set(id: UnsafeRawBufferPointer, of ids: IDRule) -> UnsafeRawBufferPointer? {
        unsafe Self.add(id, of: ids, to: room)
    }

    /// Writes a table's space.
    fileprivate static func begin(_ table: StoredTable, in room: UnsafeMutableRawBufferPointer) {
        unsafe room.storeBytes(of: table.rows.number.bigEndian, as: UInt32.self)
    }

    /// Writes an identifier after the space, or returns `nil` if the identifier is too long.
    @inline(__always)
    fileprivate static func add(
        _ id: UnsafeRawBufferPointer, of ids: IDRule, to room: UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        guard id.count <= maximumIDLength else { return nil }
        let keyed = unsafe UnsafeMutableRawBufferPointer(rebasing: room[KeySpace.length..<KeySpace.length + id.count])
        switch ids {
        case .exact: unsafe keyed.copyMemory(from: id)
        case .folded: unsafe keyed.copyFolded(from: id)
        case .int:
            let number = unsafe Int64(littleEndian: id.loadUnaligned(as: Int64.self))
            unsafe keyed.storeBytes(of: KeyBuilder.ordered(number).bigEndian, as: UInt64.self)
        }
        return unsafe UnsafeRawBufferPointer(rebasing: room[..<(KeySpace.length + id.count)])
    }
}

extension StoredTable {
    /// Calls `body` with the key of the row with the given identifier, unless its type or length is invalid.
    /// - Returns: The result of `body`, or `false` if it was not called.
    func withKey(of id: RowID, _ body: (UnsafeRawBufferPointer) throws -> Bool) throws -> Bool {
        try unsafe withUnsafeTemporaryAllocation(byteCount: RowKey.maximumLength, alignment: 8) { room in
            guard let key = unsafe RowKey.make(id, of: self, in: room) else { return false }
            return try unsafe body(key)
        }
    }
}

extension RowKey {
    fileprivate static func make(
        _ id: RowID, of table: StoredTable, in room: UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer? {
        guard id.type == table.ids.type else { return nil }
        unsafe begin(table, in: room)
        switch id {
        case .int(let number):
            return unsafe withUnsafeBytes(of: number.littleEndian) { unsafe add($0, of: .int, to: room) }
        case .string(let text):
            // Native strings, which most are, are not copied.
            let ids = table.ids
            let key = unsafe text.utf8.withContiguousStorageIfAvailable {
                unsafe add(UnsafeRawBufferPointer($0), of: ids, to: room)
            }
            return unsafe key ?? Array(text.utf8).withUnsafeBytes { unsafe add($0, of: ids, to: room) }
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Copies bytes with `A`–`Z` replaced by `a`–`z`. The buffer must be large enough.
    @inline(__always)
    fileprivate func copyFolded(from bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8 else {
            for index in 0..<bytes.count { unsafe self[index] = unsafe bytes[index].asciiFolded }
            return
        }
        // The last eight bytes may overlap the previous ones.
        let last = bytes.count &- 8
        var offset = 0
        while offset < last {
            unsafe copyFoldedWord(from: bytes, at: offset)
            offset &+= 8
        }
        unsafe copyFoldedWord(from: bytes, at: last)
    }

    @inline(__always)
    private func copyFoldedWord(from bytes: UnsafeRawBufferPointer, at offset: Int) {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        unsafe storeBytes(of: word.asciiFolded, toByteOffset: offset, as: UInt64.self)
    }
}

extension UInt64 {
    /// Eight bytes with `A`–`Z` replaced by `a`–`z` in parallel.
    ///
    /// The additions set the top bit of each byte whose low seven bits are at least `A`, or greater than `Z`: the
    /// addends are 0x80 - `A` and 0x80 - (`Z` + 1). Bytes above 0x7F are unchanged.
    var asciiFolded: UInt64 {
        let low = self & 0x7F7F_7F7F_7F7F_7F7F
        let notBelowA = low &+ 0x3F3F_3F3F_3F3F_3F3F
        let aboveZ = low &+ 0x2525_2525_2525_2525
        return self | (notBelowA & ~aboveZ & ~self & 0x8080_8080_8080_8080) >> 2
    }
}
