internal import TidelineStore

extension StoredIndex {
    /// Whether a key is the index's key of a row, as far as this can be determined without building the key.
    ///
    /// The result is `false` if it cannot be determined, for example if a text contains a zero.
    ///
    /// Unsafe pointers: the length of the key is checked before each read.
    ///
    /// - Parameters:
    ///   - idCount: The number of bytes of the identifier at the end of the key. The row was found by this identifier.
    func matchesEntry(_ key: UnsafeRawBufferPointer, idCount: Int, of row: borrowing RowView) -> Bool {
        guard key.count >= KeySpace.length, unsafe UInt32(bigEndian: key.loadUnaligned(as: UInt32.self)) == space.number
        else {
            return false
        }
        var rest = unsafe UnsafeRawBufferPointer(rebasing: key[KeySpace.length...])
        for position in positions {
            guard let position, let length = unsafe Self.lengthOfComponent(rest, of: row, at: position) else {
                return false
            }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[length...])
        }
        return rest.count == idCount
    }

    /// Returns the length of a row's value as a component if the bytes begin with it.
    @inline(__always)
    private static func lengthOfComponent(
        _ key: UnsafeRawBufferPointer, of row: borrowing RowView, at position: Int
    ) -> Int? {
        guard let mark = unsafe key.first else { return nil }
        let bytes = unsafe row.bytes(at: position)
        switch row.tag(at: position) {
        case .absent, .null: return mark == KeyBuilder.Mark.null ? 1 : nil
        case .int, .timestamp:
            guard mark == KeyBuilder.Mark.value, key.count >= 9 else { return nil }
            let found = unsafe UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
            return unsafe found == KeyBuilder.ordered(Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)))
                ? 9 : nil
        case .string, .bytes, .json:
            let end = 1 + bytes.count
            guard mark == KeyBuilder.Mark.value, key.count >= end + 2, unsafe key[end] == 0, unsafe key[end + 1] == 1,
                unsafe UnsafeRawBufferPointer(rebasing: key[1..<end]).compare(bytes) == 0, unsafe !bytes.hasZero
            else { return nil }
            return end + 2
        case .false, .true, .double: return nil
        }
    }
}
