public import TidelineStore

/// A transaction for engines that have only snapshots and batches. It keeps its changes in memory, over a snapshot, and
/// includes them in ``get(_:_:)`` and ``scan(_:descending:_:)``.
///
/// An engine's ``OrderedKeyValueEngine/write(_:)`` creates one over a snapshot, runs the body on it, and then writes
/// the changes from ``forEachChange(_:)`` as one batch:
///
/// ```swift
/// func write<T>(_ body: (OverlayTransaction<MySnapshot>) throws -> T) throws -> T {
///     let transaction = OverlayTransaction(over: try takeSnapshot())
///     let result = try body(transaction)
///     guard !transaction.isEmpty else { return result }
///     var batch = MyBatch()
///     transaction.forEachChange { key, value in
///         if let value { batch.put(key, value) } else { batch.delete(key) }
///     }
///     try commit(batch)
///     return result
/// }
/// ```
///
/// The snapshot does not change and must outlive the transaction's use. The changes stay in memory until they are
/// committed.
public final class OverlayTransaction<Base: KeyValueSnapshot>: KeyValueTransaction {
    private let base: Base
    /// Unchecked: nothing that is called during a change accesses the property, and the check would slow down every
    /// change.
    @exclusivity(unchecked)
    private var changes = OverlayChanges()

    /// Creates a transaction without changes over a snapshot.
    public init(over base: Base) { self.base = base }

    // MARK: Reading

    public func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        switch unsafe changes.change(of: key, hash: KeyHash.of(key)) {
        case .unchanged: return try unsafe base.get(key, body)
        case .removed: return false
        case .stored(let value):
            try unsafe body(value)
            return true
        }
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        var overlay = unsafe OverlayCursor(changes.inOrder(within: range), range, descending: descending)
        guard !overlay.isAtEnd else { return try unsafe base.scan(range, descending: descending, body) }
        var isStopped = false
        let values = { place in unsafe self.changes.change(at: place) }
        try unsafe base.scan(range, descending: descending) { key, value in
            let step = try unsafe overlay.merge(key, value, values, body)
            isStopped = step == .stop
            return step
        }
        if !isStopped { try unsafe overlay.finish(values, body) }
    }

    // MARK: Writing

    public func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        unsafe changes.put(key, value, hash: KeyHash.of(key))
    }

    public func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        let hash = unsafe KeyHash.of(key)
        switch unsafe changes.change(of: key, hash: hash) {
        case .unchanged: guard try unsafe base.get(key, { _ in }) else { return false }
        case .removed: return false
        case .stored: break
        }
        unsafe changes.remove(key, hash: hash)
        return true
    }

    public func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        let hash = unsafe KeyHash.of(key)
        var isStored = true
        let isFound: Bool
        switch unsafe changes.change(of: key, hash: hash) {
        case .unchanged: isFound = try unsafe base.get(key) { isStored = try unsafe replaces($0) }
        case .removed: isFound = false
        case .stored(let changed):
            isFound = true
            isStored = try unsafe replaces(changed)
        }
        if isStored { unsafe changes.put(key, value, hash: hash) }
        return !isFound
    }

    // MARK: Committing

    /// Whether there are no changes.
    public var isEmpty: Bool { unsafe changes.count == 0 }

    /// Calls `body` with each change in ascending key order: a key and the value to store, or `nil` to remove the key.
    ///
    /// The bytes are borrowed until `body` returns.
    public func forEachChange(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) throws -> Void
    ) rethrows {
        var cursor = unsafe changes.inOrder().cursor()
        while !cursor.isAtEnd {
            try unsafe cursor.withEntry { key, place in
                switch unsafe changes.change(at: OverlayChanges.place(place)) {
                case .stored(let value): try unsafe body(key, value)
                case .removed, .unchanged: try unsafe body(key, nil)
                }
            }
            cursor.advance()
        }
    }

    /// Calls `body` with each change, as ``forEachChange(_:)`` does, in unspecified order and with the ``KeyHash`` of
    /// each key.
    package func forEachChangeUnordered(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ hash: UInt64) throws -> Void
    ) rethrows {
        try unsafe changes.forEach(body)
    }
}
