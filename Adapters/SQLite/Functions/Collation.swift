internal import CSQLite

/// The collation under which ids of a table compare without regard to ASCII case.
///
/// It has the name of SQLite's own, and the same order, but goes on behind a NUL, where SQLite's stops: `a` and `a\0b`
/// are two ids. Tools that know only SQLite's own read the file all the same.
enum FoldingCollation {
    static let name = "NOCASE"

    /// Negative, zero or positive as so many bytes, with `A`–`Z` made `a`–`z`, order; a prefix comes first.
    static let compare:
        @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32 =
            tideline_compare_folded

    static func register(on database: OpaquePointer) -> Int32 {
        sqlite3_create_collation_v2(database, name, SQLITE_UTF8, nil, compare, nil)
    }
}
