internal import CLevelDB
public import TidelineKeyValue
public import TidelineStore

/// The commits made before a read or write began; see ``KeyValueSnapshot``.
///
/// Valid within the body that it was passed to. A write reads the current state of the database, because there is no
/// other writer.
public struct LevelDBSnapshot: KeyValueSnapshot {
    /// The number of keys of a scan that are read through the cache.
    private static let cachedKeys = 64

    private let database: Database
    /// `nil` for a write.
    private let snapshot: OpaquePointer?
    private let lookingUp: OpaquePointer?
    private let scanning: OpaquePointer?
    private let cache: LookupCache

    init(of database: Database, _ cache: LookupCache) {
        self.database = database
        self.cache = cache
        snapshot = leveldb_create_snapshot(database.handle)
        lookingUp = Self.makeOptions(snapshot, fillsCache: true)
        scanning = Self.makeOptions(snapshot, fillsCache: false)
    }

    /// Creates a view of the committed state for a write; the caller must ensure that there is no other writer.
    init(writingTo database: Database, _ cache: LookupCache) {
        self.database = database
        snapshot = nil
        lookingUp = database.lookingUp
        scanning = database.scanning
        self.cache = cache
    }

    /// Releases the snapshot, which must not be used afterwards.
    func end() {
        guard let snapshot else { return }
        leveldb_readoptions_destroy(lookingUp)
        leveldb_readoptions_destroy(scanning)
        leveldb_release_snapshot(database.handle, snapshot)
    }

    static func makeOptions(_ snapshot: OpaquePointer?, fillsCache: Bool) -> OpaquePointer? {
        let options = leveldb_readoptions_create()
        leveldb_readoptions_set_snapshot(options, snapshot)
        leveldb_readoptions_set_verify_checksums(options, 1)
        leveldb_readoptions_set_fill_cache(options, fillsCache ? 1 : 0)
        return options
    }

    public func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        // The cache describes the committed state, which only a write reads.
        if snapshot == nil, cache.lacks(key, isEmpty: { isEmpty($0) }) { return false }
        var length = 0
        var message: UnsafeMutablePointer<CChar>?
        let value = leveldb_get(database.handle, lookingUp, key.chars, key.count, &length, &message)
        if let message { throw StoreError.levelDB(message, path: database.path, doing: "reading failed") }
        guard let value else { return false }
        defer { leveldb_free(value) }
        try body(UnsafeRawBufferPointer(start: value, count: length))
        return true
    }

    /// Returns whether no key begins with these bytes; `false` if reading failed.
    private func isEmpty(_ prefix: UnsafeRawBufferPointer) -> Bool {
        let iterator = LevelDBIterator(database, lookingUp)
        defer { iterator.end() }
        return iterator.isEmpty(prefix)
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        guard !range.isEmpty else { return }
        // Short scans are index lookups, which are repeated. Blocks read by long scans would evict them from the cache.
        let rest = try walk(range, descending, lookingUp, limit: Self.cachedKeys, body)
        if let rest { _ = try walk(rest, descending, scanning, limit: .max, body) }
    }

    /// Calls `body` with at most `limit` keys of a range. Returns the rest of the range, or `nil` if the scan is
    /// complete.
    private func walk(
        _ range: KeyRange, _ descending: Bool, _ options: OpaquePointer?, limit: Int,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> ScanStep
    ) throws -> KeyRange? {
        let iterator = LevelDBIterator(database, options)
        defer { iterator.end() }
        let ended = Result { try iterator.walk(range, descending: descending, limit: limit, body) }
        // LevelDB skips a damaged block and reports it at the end, so the results of the body, or its error, are then
        // invalid.
        try iterator.check()
        return try ended.get()
    }
}
