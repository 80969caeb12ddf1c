public import TidelineStore

/// An engine that keeps byte strings under byte strings, in order: what ``KeyValueStore`` makes a whole store of.
///
/// This is the smaller of the two seams for stores. Tables, rows, ids, indexes, queries, counts and definitions lie
/// above it; an engine knows none of them.
///
/// ## What an implementer guarantees
/// - **Order.** Keys compare as unsigned bytes, a key before those it begins. A key has 4 bytes at least and
///   ``maximumKeyLength`` at most, every byte may have every value, and an empty value is a value.
/// - **Key spaces.** The first four bytes of a key name its key space, and a scan's range lies within one. An engine that
///   has several maps, such as LMDB's named databases, may keep a space in each; others need not care.
/// - **A snapshot stands still**: ``read(_:)`` shows its body the commits made before, all of them and whole, whatever is
///   written meanwhile.
/// - **A transaction is all or nothing.** ``write(_:)`` calls its body once, sees its own changes in `get` and `scan`,
///   commits when the body returns and drops everything when it throws or when the commit fails. On return it is as
///   durable as ``capabilities`` say.
/// - **Bodies run on the calling thread**, before the call returns. A snapshot or transaction is not used after its body;
///   that, too, is seen to above.
/// - **Threads.** Reads come from any number of threads at once, also beside the write; ``KeyValueStore`` sees to it that
///   one write at a time comes from one store, none from within a body of the same thread, and that ``close()`` comes
///   once and last. Where two stores or processes share files, the engine makes writers wait for each other.
/// - **Errors** are ``StoreError``s with the engine's code beside: ``StoreError/Code/full`` when disk or map have no room,
///   ``StoreError/Code/corrupt`` for damage, ``StoreError/Code/busy`` for a lock not had in time,
///   ``StoreError/Code/readOnly``, ``StoreError/Code/io`` for all else. Nothing traps on data. After a failed
///   transaction the engine works on.
///
/// Opening is the implementer's initialiser: it throws ``StoreError/Code/locked``, ``StoreError/Code/corrupt`` or
/// ``StoreError/Code/io`` and leaves nothing half-made behind.
public protocol OrderedKeyValueEngine: Sendable {
    /// What a read body gets.
    associatedtype Snapshot: KeyValueSnapshot
    /// What a write body gets.
    associatedtype Transaction: KeyValueTransaction

    /// What a store over this engine can do, unchanging while it is open. Which values are stored and how long ids may be
    /// is not the engine's affair: ``KeyValueStore`` declares that itself.
    var capabilities: StoreCapabilities { get }

    /// The greatest length of a key in bytes, the key space included; `Int.max` when there is none. Less than 128 is
    /// refused.
    ///
    /// Longer keys are seen to above. It belongs to the format of the files: an engine never changes it.
    var maximumKeyLength: Int { get }

    /// The file or folder, for messages; the default is nil, for an engine that has none.
    var path: String? { get }

    /// Whether to look a key up takes so much longer than to store a value that the store had better remember the keys it
    /// found, as many as 8 MB hold; the default is false. Of no effect where processes share the files.
    var looksUpSlowly: Bool { get }

    /// Runs `body` on one snapshot and ends it.
    func read<T>(_ body: (Snapshot) throws -> T) throws -> T

    /// Runs `body` as one transaction, which is committed when it returns and dropped when it throws.
    func write<T>(_ body: (Transaction) throws -> T) throws -> T

    /// Lets go of files, locks and memory. A store that nobody closed does not call it: see to that in `deinit`, too.
    func close() throws
}

extension OrderedKeyValueEngine {
    public var path: String? { nil }
    public var looksUpSlowly: Bool { false }
}

/// Reading within one snapshot.
///
/// Bytes passed to a body are borrowed: they are valid until the body returns. Within a ``KeyValueTransaction`` the body
/// makes no changes; ``KeyValueStore`` sees to that.
public protocol KeyValueSnapshot {
    /// A number that is another after each commit that changed something, by whomever, and that two snapshots have in
    /// common only if nothing was committed between; the default is nil, for an engine that has none.
    ///
    /// It spares every read and write of files that processes share a look at whether the definitions are those that are
    /// known. Of a transaction it is the number of the commit that the transaction came after.
    var commitNumber: UInt64? { get }

    /// Calls `body` with the value of a key; nil, without calling it, when there is none.
    func get<T>(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T?

    /// Calls `body` with the value of a key; false, without calling it, when there is none.
    ///
    /// The default goes by ``get(_:_:)``; where an engine implements it, look-ups are compiled for no type of result.
    func read(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool

    /// Calls `body` with each key of the range and its value, in ascending or descending order of keys, until it returns
    /// ``ScanStep/stop`` or throws.
    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws
}

extension KeyValueSnapshot {
    public var commitNumber: UInt64? { nil }

    public func read(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        try get(key, body) != nil
    }
}

/// Reading and writing within one transaction.
///
/// After a call that threw, nothing more is asked of the transaction, and it is dropped.
public protocol KeyValueTransaction: KeyValueSnapshot {
    /// The number that ``KeyValueSnapshot/commitNumber`` is once this transaction is committed, should it change something;
    /// the default is nil, for an engine that does not know it.
    var ownCommitNumber: UInt64? { get }

    /// Stores a value under a key, in the place of one there may be. The bytes are the caller's again after the call.
    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws

    /// Removes a key and its value.
    /// - Returns: Whether there was one.
    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool

    /// Stores a value under a key that has none, or in the place of the one there is if `replaces` says so of it.
    ///
    /// The default asks, then stores; an engine that does both at once implements it.
    /// - Returns: Whether the key had none.
    func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool
}

extension KeyValueTransaction {
    public var ownCommitNumber: UInt64? { nil }

    public func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        var isStored = true
        let isFound = try read(key) { isStored = try replaces($0) }
        if isStored { try put(key, value) }
        return !isFound
    }
}
