internal import CLevelDB
public import TidelineKeyValue
public import TidelineStore

/// The commits made before a read or write began; see ``KeyValueSnapshot``.
///
/// Valid within the body it was passed to. What a write reads is the database as it is: nobody else writes meanwhile.
public struct LevelDBSnapshot: KeyValueSnapshot {
    /// How many keys of a scan fill the cache.
    private static let cachedKeys = 64

    private let database: Database
    /// Nil for a write's.
    private let snapshot: OpaquePointer?
    private let lookingUp: OpaquePointer?
    private let scanning: OpaquePointer?
    private let known: KnownKeys

    init(of database: Database, _ known: KnownKeys) {
        self.database = database
        self.known = known
        snapshot = leveldb_create_snapshot(database.handle)
        lookingUp = Self.makeOptions(snapshot, fillsCache: true)
        scanning = Self.makeOptions(snapshot, fillsCache: false)
    }

    /// What is committed, for a write: the caller sees to it that there is no other.
    init(writingTo database: Database, _ known: KnownKeys) {
        self.database = database
        snapshot = nil
        lookingUp = database.lookingUp
        scanning = database.scanning
        self.known = known
    }

    /// Lets go of it. It must not be used afterwards.
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

    public func get<T>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        guard let value = try copy(of: key) else { return nil }
        defer { leveldb_free(value.baseAddress) }
        return try body(UnsafeRawBufferPointer(value))
    }

    public func read(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        guard let value = try copy(of: key) else { return false }
        defer { leveldb_free(value.baseAddress) }
        try body(UnsafeRawBufferPointer(value))
        return true
    }

    /// The value of a key in memory of its own, which the caller frees.
    @inline(__always)
    private func copy(of key: UnsafeRawBufferPointer) throws(StoreError) -> UnsafeMutableRawBufferPointer? {
        // What is known is known of what a write finds.
        if snapshot == nil, known.lack(key, isEmpty: { isEmpty($0) }) { return nil }
        var length = 0
        var message: UnsafeMutablePointer<CChar>?
        let value = leveldb_get(database.handle, lookingUp, key.chars, key.count, &length, &message)
        if let message { throw StoreError.levelDB(message, path: database.path, doing: "reading failed") }
        return value.map { UnsafeMutableRawBufferPointer(start: $0, count: length) }
    }

    /// Whether no key begins with these bytes; false when reading failed.
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
        // Short scans are look-ups in an index and come again; what long ones read would drive that out of the cache.
        let rest = try walk(range, descending, lookingUp, limit: Self.cachedKeys, body)
        if let rest { _ = try walk(rest, descending, scanning, limit: .max, body) }
    }

    /// Goes over so many keys of a range at most. Returns what is left then, nil when the scan is done.
    private func walk(
        _ range: KeyRange, _ descending: Bool, _ options: OpaquePointer?, limit: Int,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> ScanStep
    ) throws -> KeyRange? {
        let iterator = LevelDBIterator(database, options)
        defer { iterator.end() }
        let ended = Result { try iterator.walk(range, descending: descending, limit: limit, body) }
        // LevelDB passes over a damaged block and tells it at the end: what the body saw, or threw, is not the truth then.
        try iterator.check()
        return try ended.get()
    }
}
