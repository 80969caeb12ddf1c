internal import CSQLite

/// The version of the SQLite library.
enum LibraryVersion {
    /// Whether a version, such as 3051002 for 3.51.2, can lose commits when the write-ahead log begins again.
    ///
    /// See "The WAL-Reset Bug" in https://sqlite.org/wal.html.
    static func canLoseCommits(_ version: Int32) -> Bool {
        let isFixedInSeries = 3_044_006..<3_045_000 ~= version || 3_050_007..<3_051_000 ~= version
        return 3_007_000..<3_051_003 ~= version && !isFixedInSeries
    }

    /// Writes a warning to SQLite's error log when this process opens its first store.
    static func warnOnce() { _ = warning }

    private static let warning: Void = {
        guard canLoseCommits(sqlite3_libversion_number()) else { return }
        tideline_log_warning(
            "this version of SQLite can lose commits if several connections write (https://sqlite.org/wal.html#walresetbug)"
        )
    }()
}
