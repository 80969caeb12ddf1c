internal import CSQLite

/// The collation for tables whose identifiers compare without regard to ASCII case.
///
/// It has the same name and the same order as SQLite's own `NOCASE`, but does not stop at a NUL: `a` and `a\0b` are
/// different identifiers. Tools that know only SQLite's own collation can still read the file.
enum FoldingCollation {
    static let name = "NOCASE"

    /// Compares bytes with `A`–`Z` folded to `a`–`z` and returns a negative number, zero or a positive number; a prefix
    /// comes first.
    static let compare:
        @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32 =
            tideline_compare_folded

    static func register(on database: OpaquePointer) -> Int32 {
        sqlite3_create_collation_v2(database, name, SQLITE_UTF8, nil, compare, nil)
    }
}
