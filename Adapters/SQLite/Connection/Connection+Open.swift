internal import CSQLite
internal import Foundation
internal import TidelineStore

extension Connection {
    enum Purpose {
        case writing
        case reading
        /// Reading from a file system on which no lock can be taken; see ``Connection/requiringSameFile(_:)``.
        case readingImmutable
    }

    /// Opens a connection to a file, or to a new in-memory database if `path` is `nil`.
    static func open(_ path: String?, for purpose: Purpose, options: SQLiteOptions) throws(StoreError) -> Connection {
        LibraryVersion.warnOnce()
        var handle: OpaquePointer?
        let flags = openFlags(path, purpose, options)
        let name = purpose == .readingImmutable ? immutableURI(path ?? "") : path ?? ":memory:"
        let result = sqlite3_open_v2(name, &handle, flags, path == nil ? nil : FileFormat.checksumVFS)
        guard result == SQLITE_OK, let handle else {
            defer { sqlite3_close_v2(handle) }
            throw openingError(result, handle, path: path, options: options)
        }
        let connection = Connection(handle: handle, path: path)
        if purpose == .readingImmutable { connection.noteImmutableFile() }
        do throws(StoreError) {
            try connection.configure(for: purpose, options: options)
        } catch {
            connection.leaveLog()
            throw purpose == .writing ? connection.explaining(error) : error
        }
        return connection
    }

    /// Lets the connection leave the log in place when it is closed, because the file was refused. SQLite would move
    /// the log into the file, which may be damaged or that of another program.
    func leaveLog() {
        if let path, DatabaseFile.hasLog(path) { _ = tideline_leave_log(handle) }
    }

    /// Opens a connection for reading: as usual or, where the shared memory of the write-ahead log cannot be created,
    /// to an immutable file. Such a file must have no log.
    static func openForReading(_ path: String, _ options: SQLiteOptions) throws(StoreError) -> Connection {
        do throws(StoreError) {
            let connection = try open(path, for: .reading, options: options)
            _ = try Deadline(after: options.busyTimeout).retrying { () throws(StoreError) in
                try connection.integer("PRAGMA user_version")
            }
            return connection
        } catch {
            let code = error.engineCode.map { Int32(truncatingIfNeeded: $0 & 0xFF) }
            guard code == SQLITE_CANTOPEN || code == SQLITE_READONLY, isPermitted(R_OK, path),
                !DatabaseFile.hasLog(path)
            else { throw error }
            return try open(path, for: .readingImmutable, options: options)
        }
    }

    private static func openFlags(_ path: String?, _ purpose: Purpose, _ options: SQLiteOptions) -> Int32 {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        switch purpose {
        case .writing: flags |= SQLITE_OPEN_READWRITE
        // A reader locks the write-ahead log through shared memory, to which it writes.
        case .reading: flags |= options.isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        case .readingImmutable: flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        }
        if purpose == .writing, options.createsIfMissing || path == nil { flags |= SQLITE_OPEN_CREATE }
        return flags
    }

    private static func immutableURI(_ path: String) -> String {
        let allowed = CharacterSet(charactersIn: "/-._~").union(.alphanumerics)
        return "file:\(path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path)?immutable=1"
    }

    private func configure(for purpose: Purpose, options: SQLiteOptions) throws(StoreError) {
        let milliseconds = options.busyTimeout / Duration.milliseconds(1)
        // A wait for a lock also ends when the task is cancelled; ``Deadline`` throws the error.
        sqlite3_busy_handler(
            handle, { Task.isCancelled ? 0 : tideline_wait_for_lock($0, $1) },
            UnsafeMutableRawPointer(bitPattern: Int(max(0, min(milliseconds, Double(Int32.max))))))
        guard tideline_harden(handle) == SQLITE_OK else {
            throw StoreError(.io, "SQLite rejected a setting", path: path)
        }
        try SQLFunctions.register(on: handle, path: path)
        let others =
            purpose == .writing
            ? Self.writerSettings + Self.durability(options.durability)
            : Self.readerSettings + (options.mapsFile ? [Self.mapping] : [])
        for setting in Self.settings + others {
            try executeOnce("PRAGMA \(setting)")
        }
    }

    /// The settings of all connections. Together with the caches, they were measured to make bulk writes 1.8 times as
    /// fast as SQLite's defaults.
    private static let settings = ["temp_store = MEMORY", "wal_autocheckpoint = 8000"]

    /// A writer has a page cache of 3 MiB; a negative size is in KiB. A transaction that changes more pages than fit
    /// into the cache writes some of them twice, so the cache may grow to 4,096 pages before that. An app's first pull
    /// of 100,000 rows takes 5 MiB less than with 8 MiB; replacing 100,000 rows all over a table was measured to take a
    /// fifth longer, and other changes as long.
    ///
    /// The log is truncated to 32 MB when it begins again after a complete checkpoint. It is the size at which a commit
    /// runs a checkpoint, so only a log that grew during a long read is truncated.
    private static let writerSettings = [
        "cache_size = -3072", "cache_spill = 4096", "journal_size_limit = 33554432",
    ]

    /// A reader has a page cache of up to 64 MiB, because it copies each page that is not in its cache from the file.
    /// Reads all over 100,000 rows (21 MB) were measured to take 1.3 to 1.7 times as long with 8 MiB.
    private static let readerSettings = ["cache_size = -65536"]

    /// The size in bytes of the part of the file that a reader maps. A writer does not, because SQLite then searches
    /// the write-ahead log for each page that it reads, even if the page is in its cache.
    private static let mapping = "mmap_size = 268435456"

    /// Apple's systems write a synced file through the drive's cache only when they are asked to; others ignore it.
    private static func durability(_ durability: StoreCapabilities.Durability) -> [String] {
        durability == .full
            ? ["synchronous = FULL", "fullfsync = ON"] : ["synchronous = NORMAL", "checkpoint_fullfsync = ON"]
    }

    // MARK: Errors

    private static func openingError(
        _ result: Int32, _ handle: OpaquePointer?, path: String?, options: SQLiteOptions
    ) -> StoreError {
        var error = StoreError.sqlite(result, handle, path: path, doing: "the store could not be opened")
        if let path, result & 0xFF == SQLITE_CANTOPEN, let (code, reason) = obstacle(at: path, options: options) {
            error.code = code
            error.message = "the store could not be opened: \(reason)"
        }
        return error
    }

    /// The longest path of a file in bytes: SQLite appends `-journal` and `-wal` to it.
    private static let longestPath = 512 - "-journal".utf8.count - 1

    /// Returns why a file cannot be opened, as a code and in words; SQLite reports only the failure.
    private static func obstacle(at path: String, options: SQLiteOptions) -> (StoreError.Code, String)? {
        let length = DatabaseFile.file(at: path).utf8.count
        guard length <= longestPath else {
            return (.io, "the path has \(length) bytes, and SQLite allows at most \(longestPath)")
        }
        let files = FileManager.default
        var isFolder: ObjCBool = false
        if files.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue { return (.io, "the path is a folder") }
            return isPermitted(R_OK, path) ? nil : (.io, "there is no permission to read the file")
        }
        let folder = (path as NSString).deletingLastPathComponent
        guard files.fileExists(atPath: folder, isDirectory: &isFolder) else {
            return (.io, "its folder does not exist")
        }
        guard isFolder.boolValue else { return (.io, "its parent folder is a file") }
        guard isPermitted(X_OK, folder) else { return (.io, "there is no permission to search its folder") }
        guard options.createsIfMissing, !options.isReadOnly else {
            return (.io, "it does not exist, and the options do not allow creating it")
        }
        guard isPermitted(W_OK, folder) else { return (.readOnly, "there is no permission to create it in its folder") }
        return obstacleToCreation(at: DatabaseFile.removed(path))
    }

    /// Returns why a file cannot be created, by trying to: SQLite does not keep the reason. Other processes do not use
    /// a file with the given path for commits.
    static func obstacleToCreation(at path: String) -> (StoreError.Code, String)? {
        let file = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            let number = errno
            return number == EEXIST ? nil : (.init(systemError: number), String(cString: strerror(number)))
        }
        Foundation.close(file)
        unlink(path)
        return nil
    }

    /// Returns whether the effective user of this process has a permission for a file or folder.
    private static func isPermitted(_ mode: Int32, _ path: String) -> Bool {
        faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0
    }
}

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
