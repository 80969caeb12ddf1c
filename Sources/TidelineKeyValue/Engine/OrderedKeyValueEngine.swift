public import TidelineStore

/// An engine that maps byte strings to byte strings in key order, from which ``KeyValueStore`` builds a complete store.
///
/// This is the smaller of the two protocols for stores. Tables, rows, identifiers, indexes, queries, counts, and
/// definitions are implemented by ``KeyValueStore``; an engine need not know about them.
///
/// ## Requirements for implementers
/// - **Order.** Keys compare as unsigned bytes, and a prefix is less than a longer key. A key has at least 4 and at
///   most ``maximumKeyLength`` bytes. Every byte may have any value, and a value may be empty.
/// - **Key spaces.** The first four bytes of a key identify its key space, and the range of a scan is within one space.
///   An engine with several maps, such as LMDB's named databases, may keep each space in a map; other engines can
///   ignore spaces.
/// - **A snapshot does not change.** The body of ``read(_:)`` sees all previous commits completely, regardless of
///   concurrent writes.
/// - **A transaction is all or nothing.** ``write(_:)`` calls its body once. The body's changes are visible to its own
///   `get` and `scan`. The transaction is committed when the body returns and rolled back if the body throws or the
///   commit fails. When the method returns, the transaction is durable to the degree stated by ``capabilities``.
/// - **Bodies run on the calling thread** before the call returns. ``KeyValueStore`` ensures that a snapshot or
///   transaction is not used after its body.
/// - **Threads.** Any number of threads may read concurrently, also during a write. ``KeyValueStore`` ensures that a
///   store runs one write at a time, that no write begins inside a body on the same thread, and that ``close()`` is
///   called once, as the last call. If several stores or processes share files, the engine serializes their writers.
/// - **Errors** are ``StoreError``s with the engine's code: ``StoreError/Code/full`` if the disk or map is full,
///   ``StoreError/Code/corrupt`` for damage, ``StoreError/Code/busy`` for a lock that was not acquired in time,
///   ``StoreError/Code/readOnly``, and ``StoreError/Code/io`` for other failures. No data causes a trap. The engine
///   remains usable after a failed transaction.
///
/// The implementer provides an initializer that opens the engine. It throws ``StoreError/Code/locked``,
/// ``StoreError/Code/notAStore``, ``StoreError/Code/corrupt``, ``StoreError/Code/readOnly``, or ``StoreError/Code/io``
/// and leaves no partially created files.
public protocol OrderedKeyValueEngine: Sendable {
    /// The snapshot that a read body receives.
    associatedtype Snapshot: KeyValueSnapshot
    /// The transaction that a write body receives.
    associatedtype Transaction: KeyValueTransaction

    /// The capabilities of a store over this engine, which do not change while it is open.
    ///
    /// ``KeyValueStore`` overrides the capabilities that concern stored values, the length of identifiers, and the time
    /// of queries.
    var capabilities: StoreCapabilities { get }

    /// The maximum length of a key in bytes, including the key space, or `Int.max` if there is no limit.
    ///
    /// Values less than 128 are rejected. ``KeyValueStore`` handles longer keys. The limit is part of the file format,
    /// so an engine must never change it.
    var maximumKeyLength: Int { get }

    /// The file or folder for messages. The default is `nil`, for an engine without files.
    var path: String? { get }

    /// The file by which processes tell each other of commits; see ``ExternalCommits/signalPath``. The default is
    /// `nil`.
    var commitSignalPath: String? { get }

    /// Runs `body` on one snapshot and then ends the snapshot.
    func read<T>(_ body: (Snapshot) throws -> T) throws -> T

    /// Runs `body` as one transaction, which is committed when `body` returns and rolled back when it throws.
    func write<T>(_ body: (Transaction) throws -> T) throws -> T

    /// Releases files, locks, and memory.
    ///
    /// A store that was not closed does not call this method, so release resources in `deinit` as well, and if opening
    /// fails. To release a lock of `flock`, unlock the descriptor before you close it: a process that is being started
    /// briefly has a copy of the descriptor, and the lock with it.
    func close() throws
}

extension OrderedKeyValueEngine {
    public var path: String? { nil }
    public var commitSignalPath: String? { nil }
}

/// Read access within one snapshot.
///
/// Bytes passed to a body are borrowed: they are valid until the body returns. ``KeyValueStore`` ensures that such a
/// body makes no changes within a ``KeyValueTransaction``.
public protocol KeyValueSnapshot {
    /// A number that is greater after each commit with changes, including those of other processes.
    ///
    /// Two snapshots have the same number only if nothing was committed between them. The default is `nil`, for an
    /// engine without such a number. With it, reads and writes of files shared between processes need not check whether
    /// the cached definitions are current, and live queries see the commits of other processes. For a transaction, it
    /// is the number of the preceding commit.
    var commitNumber: UInt64? { get }

    /// Calls `body` with the value for a key, or returns `false` if there is none.
    func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool

    /// Calls `body` with each key of the range and its value, in ascending or descending key order, until it returns
    /// ``ScanStep/stop`` or throws.
    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws
}

extension KeyValueSnapshot {
    public var commitNumber: UInt64? { nil }
}

/// Read and write access within one transaction.
///
/// After a call throws, the transaction is not used again and is rolled back.
public protocol KeyValueTransaction: KeyValueSnapshot {
    /// The value of ``KeyValueSnapshot/commitNumber`` after this transaction is committed, if it has changes.
    ///
    /// The default is `nil`, for an engine that does not know the number. If processes share the files of the engine,
    /// live queries then take the store's own commits for those of others, and are read again more often than
    /// necessary.
    var ownCommitNumber: UInt64? { get }

    /// Stores a value for a key, replacing an existing one. The bytes are valid only during the call.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

    /// Removes a key and its value.
    /// - Returns: Whether the key existed.
    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool

    /// Whether the engine remembers keys, with ``remembers(_:)`` and ``remember(_:)``; `false` by default. Otherwise
    /// neither is called.
    var remembersKeys: Bool { get }

    /// Whether ``remember(_:)`` was called for a key, in this or an earlier transaction, and the key certainly still
    /// exists. ``KeyValueStore`` then replaces some values without a lookup.
    ///
    /// The default is `false`. An engine that remembers keys forgets a key before it is deleted, and all keys when a
    /// transaction is rolled back. It must not remember keys if other processes can change its files.
    func remembers(_ key: UnsafeRawBufferPointer) -> Bool

    /// Remembers a key that was found, for an engine in which a lookup is much slower than storing a value.
    ///
    /// The default implementation does nothing.
    func remember(_ key: UnsafeRawBufferPointer)

    /// Stores a value for a key, replacing an existing one only if `replaces` returns `true` for it.
    ///
    /// The default implementation performs a lookup and then stores the value. An engine that can do both at once
    /// implements this method.
    /// - Returns: Whether the key is new.
    func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool
}

extension KeyValueTransaction {
    public var ownCommitNumber: UInt64? { nil }

    public var remembersKeys: Bool { false }

    public func remembers(_ key: UnsafeRawBufferPointer) -> Bool { false }

    public func remember(_ key: UnsafeRawBufferPointer) {}

    public func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        var isStored = true
        let isFound = try unsafe get(key) { isStored = try unsafe replaces($0) }
        if isStored { try unsafe put(key, value) }
        return !isFound
    }
}
