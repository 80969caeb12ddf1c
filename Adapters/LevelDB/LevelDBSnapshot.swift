internal import CLevelDB
public import TidelineKeyValue
public import TidelineStore

/// The commits made before a read or write began; see ``KeyValueSnapshot``.
///
/// Valid within the body it was passed to.
public struct LevelDBSnapshot: KeyValueSnapshot {
    private let database: Database
    private let snapshot: OpaquePointer?
    private let lookingUp: OpaquePointer?
    private let scanning: OpaquePointer?

    init(of database: Database) {
        self.database = database
        snapshot = leveldb_create_snapshot(database.handle)
        lookingUp = Self.makeOptions(snapshot, fillsCache: true)
        scanning = Self.makeOptions(snapshot, fillsCache: false)
    }

    /// Lets go of it. It must not be used afterwards.
    func end() {
        leveldb_readoptions_destroy(lookingUp)
        leveldb_readoptions_destroy(scanning)
        leveldb_release_snapshot(database.handle, snapshot)
    }

    private static func makeOptions(_ snapshot: OpaquePointer?, fillsCache: Bool) -> OpaquePointer? {
        let options = leveldb_readoptions_create()
        leveldb_readoptions_set_snapshot(options, snapshot)
        leveldb_readoptions_set_verify_checksums(options, 1)
        leveldb_readoptions_set_fill_cache(options, fillsCache ? 1 : 0)
        return options
    }

    public func get<T>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        var length = 0
        var message: UnsafeMutablePointer<CChar>?
        let value = leveldb_get(database.handle, lookingUp, key.chars, key.count, &length, &message)
        if let message { throw StoreError.levelDB(message, path: database.path, doing: "reading failed") }
        guard let value else { return nil }
        defer { leveldb_free(value) }
        return try body(UnsafeRawBufferPointer(start: value, count: length))
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        guard !range.isEmpty else { return }
        let iterator = LevelDBIterator(database, scanning)
        defer { iterator.end() }
        let ended = Result { try iterator.scan(range, descending: descending, body) }
        // LevelDB passes over a damaged block and tells it at the end: what the body saw, or threw, is not the truth then.
        try iterator.check()
        try ended.get()
    }
}
