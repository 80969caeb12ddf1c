public import TidelineStore

/// A transaction for engines that have only snapshots and batches: it keeps its changes in memory, over a snapshot, and
/// sees them in ``get(_:_:)`` and ``scan(_:descending:_:)``.
///
/// An engine's ``OrderedKeyValueEngine/write(_:)`` makes one over a snapshot, runs the body on it, and then writes what
/// ``forEachChange(_:)`` gives as one batch:
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
/// The snapshot stays as it was; it must outlive the transaction's use. The changes are held in memory until they are
/// committed.
public final class OverlayTransaction<Base: KeyValueSnapshot>: KeyValueTransaction {
    private let base: Base
    private var changes = OverlayChanges()

    /// A transaction without changes, over a snapshot of what is committed.
    public init(over base: Base) { self.base = base }

    // MARK: Reading

    public func get<T>(
        _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        var result: T?
        if try changes.read(key, { result = try body($0) }) == .unchanged { return try base.get(key, body) }
        return result
    }

    public func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        var overlay = OverlayCursor(changes, range, descending: descending)
        guard !overlay.isAtEnd else { return try base.scan(range, descending: descending, body) }
        var isStopped = false
        try base.scan(range, descending: descending) { key, value in
            let step = try overlay.merge(key, value, body)
            isStopped = step == .stop
            return step
        }
        if !isStopped { try overlay.finish(body) }
    }

    // MARK: Writing

    public func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        changes.put(key, value)
    }

    public func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        guard try get(key, { _ in }) != nil else { return false }
        changes.delete(key)
        return true
    }

    /// Stores a value under a key that has none, or calls `existing` with the value there is and stores nothing.
    ///
    /// The snapshot is asked first: most often it has no such key, and then the changes need not be searched twice.
    /// - Returns: What `existing` returned, nil when the value was stored.
    public func insert<T>(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        orRead existing: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        var result: T?
        var change = OverlayChanges.Change.unchanged
        let committed: Void? = try base.get(key) { committed in
            change = try changes.read(key) { result = try existing($0) }
            if change == .unchanged { result = try existing(committed) }
        }
        if committed == nil {
            if changes.insert(key, value) { return nil }
            change = try changes.read(key) { result = try existing($0) }
        }
        if change == .removed { changes.put(key, value) }
        return result
    }

    // MARK: Committing

    /// Whether there are no changes.
    public var isEmpty: Bool { changes.map.count == 0 }

    /// Calls `body` with each change in ascending order of keys: a key and the value to store, nil to remove it.
    ///
    /// The bytes are borrowed until `body` returns.
    public func forEachChange(
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) throws -> Void
    ) rethrows {
        var cursor = changes.map.cursor()
        while !cursor.isAtEnd {
            try cursor.withEntry { key, marked in try body(key, OverlayChanges.value(of: marked)) }
            cursor.advance()
        }
    }
}
