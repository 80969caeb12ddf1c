internal import CSQLite

/// The collation under which ids of a table compare without regard to ASCII case.
///
/// It has the name of SQLite's own, and the same order, but goes on behind a NUL, where SQLite's stops: `a` and `a\0b`
/// are two ids. Tools that know only SQLite's own read the file all the same.
enum FoldingCollation {
    static let name = "NOCASE"

    static func register(on database: OpaquePointer) -> Int32 {
        sqlite3_create_collation_v2(
            database, name, SQLITE_UTF8, nil,
            { _, leftCount, left, rightCount, right in
                FoldingCollation.compare(
                    UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
                    UnsafeRawBufferPointer(start: right, count: Int(rightCount)))
            }, nil)
    }

    /// Negative, zero or positive as the bytes, with `A`–`Z` made `a`–`z`, order; a prefix comes first.
    private static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int32 {
        let count = min(left.count, right.count)
        var position = 0
        // What is equal byte for byte needs no folding.
        while position + 8 <= count,
            left.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                == right.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        {
            position += 8
        }
        while position < count {
            let (a, b) = (fold(left[position]), fold(right[position]))
            if a != b { return Int32(a) - Int32(b) }
            position += 1
        }
        return Int32((left.count - right.count).signum())
    }

    private static func fold(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
