internal import CLevelDB
internal import TidelineStore

/// The changes of one transaction, in LevelDB's format.
///
/// A batch is reused for the next transaction, together with its memory.
///
/// `@unchecked Sendable`: LevelDB's batch is memory that is not bound to a thread, and the engine's lock ensures that
/// only one thread at a time uses it.
struct WriteBatch: @unchecked Sendable {
    /// The size in bytes above which the memory is not kept.
    private static let keptSize = 4 << 20
    /// LevelDB stores lengths in 32 bits and silently truncates larger ones; it adds eight bytes of its own to a key.
    private static let maximumLength = Int(Int32.max)

    /// `nil` after ``destroy()``.
    private(set) var handle: OpaquePointer? = leveldb_writebatch_create()
    private(set) var count = 0
    private var size = 0

    mutating func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) {
        guard value.count <= Self.maximumLength, key.count <= Self.maximumLength else {
            throw StoreError(.invalidValue, "LevelDB limits keys and values to 2 GiB")
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

    /// Removes all changes.
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

    /// Frees the memory; the batch must not be used afterwards.
    mutating func destroy() {
        leveldb_writebatch_destroy(handle)
        handle = nil
    }
}
