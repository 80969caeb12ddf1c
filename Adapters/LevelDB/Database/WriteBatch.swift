internal import CLevelDB
internal import TidelineStore

/// The changes of one transaction, as LevelDB takes them.
///
/// Used again from one transaction to the next, so that its memory is.
///
/// `@unchecked Sendable`: LevelDB's batch is memory that belongs to no thread; the engine's lock hands it from one to the
/// next.
struct WriteBatch: @unchecked Sendable {
    /// Beyond so many bytes the memory is not worth keeping.
    private static let keptSize = 4 << 20
    /// LevelDB stores lengths in 32 bits and cuts off longer ones without a word; eight bytes of a key are its own.
    private static let maximumLength = Int(Int32.max)

    /// Nil after ``destroy()``.
    private(set) var handle: OpaquePointer? = leveldb_writebatch_create()
    private(set) var count = 0
    private var size = 0

    mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) {
        guard value.count <= Self.maximumLength, key.count <= Self.maximumLength else {
            throw StoreError(.invalidValue, "LevelDB keeps keys and values up to 2 GiB")
        }
        leveldb_writebatch_put(handle, key.chars, key.count, value.chars, value.count)
        count += 1
        size += key.count + value.count
    }

    mutating func delete(_ key: UnsafeRawBufferPointer) {
        leveldb_writebatch_delete(handle, key.chars, key.count)
        count += 1
        size += key.count
    }

    /// Forgets the changes.
    mutating func clear() {
        if size > Self.keptSize {
            destroy()
            handle = leveldb_writebatch_create()
        } else {
            leveldb_writebatch_clear(handle)
        }
        count = 0
        size = 0
    }

    /// Gives its memory back; it must not be used afterwards.
    mutating func destroy() {
        leveldb_writebatch_destroy(handle)
        handle = nil
    }
}
