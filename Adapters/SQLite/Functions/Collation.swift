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
                guard let left, let right else { return leftCount - rightCount }
                return FoldingCollation.compare(left, Int(leftCount), right, Int(rightCount))
            }, nil)
    }

    /// Negative, zero or positive as the bytes, with `A`–`Z` made `a`–`z`, order; a prefix comes first.
    ///
    /// A search for an id comes here a dozen times: what is equal byte for byte is passed over eight bytes at a time, up to
    /// the first that differ.
    ///
    /// Unsafe pointers: SQLite gives so many bytes of each; what is read ends before the shorter one does.
    @inline(__always)
    static func compare(
        _ left: UnsafeRawPointer, _ leftCount: Int, _ right: UnsafeRawPointer, _ rightCount: Int
    ) -> Int32 {
        let count = min(leftCount, rightCount)
        var position = 0
        while position < count {
            if count &- position >= 8 {
                let difference = word(left, position) ^ word(right, position)
                if difference == 0 {
                    position &+= 8
                    continue
                }
                position &+= difference.trailingZeroBitCount &>> 3
            }
            let (a, b) = (byte(left, position), byte(right, position))
            if a != b {
                let (a, b) = (fold(a), fold(b))
                if a != b { return Int32(a) &- Int32(b) }
            }
            position &+= 1
        }
        return Int32(truncatingIfNeeded: leftCount &- rightCount)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer, _ position: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    @inline(__always)
    private static func byte(_ bytes: UnsafeRawPointer, _ position: Int) -> UInt8 {
        bytes.load(fromByteOffset: position, as: UInt8.self)
    }

    @inline(__always)
    private static func fold(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
}
