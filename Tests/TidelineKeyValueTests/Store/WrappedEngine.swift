import Synchronization
import TidelineKeyValue
import TidelineMemory
import TidelineStore

/// An in-memory engine with configurable capabilities and injected failures.
final class WrappedEngine: OrderedKeyValueEngine {
    let base: MemoryEngine
    let capabilities: StoreCapabilities
    let maximumKeyLength: Int
    /// The keys that the engine remembers, or `nil` if it does not remember any.
    private let remembered: RememberedKeys?
    let faults = Faults()
    /// Called once, before the next snapshot is taken.
    let beforeSnapshot = Interruption()
    /// Called once, after the next transaction is committed and before the store is notified.
    let afterCommit = Interruption()
    private let closings = Atomic(0)

    /// - Parameter base: The engine that contains the entries. Entries stored through another engine over it are
    ///   visible.
    init(
        _ base: MemoryEngine = MemoryEngine(), capabilities: StoreCapabilities? = nil, sharesFiles: Bool = false,
        maximumKeyLength: Int = .max, remembersKeys: Bool = false
    ) {
        self.base = base
        var capabilities = capabilities ?? base.capabilities
        if sharesFiles { capabilities.sharesFilesWithProcesses = true }
        self.capabilities = capabilities
        self.maximumKeyLength = maximumKeyLength
        remembered = remembersKeys ? RememberedKeys() : nil
    }

    /// The number of times the engine was closed.
    var closingCount: Int { closings.load(ordering: .sequentiallyConsistent) }

    /// Returns the number of engine operations in `body`: begun transactions, lookups, steps of scans, changes,
    /// commits.
    func countSteps(of body: () throws -> Void) rethrows -> Int {
        try 1_000_000 - faults.remainder(of: 1_000_000, body)
    }

    func read<T>(_ body: (WrappedSnapshot) throws -> T) throws -> T {
        try faults.step()
        beforeSnapshot.run()
        return try base.read { try body(WrappedSnapshot(base: $0, faults: faults)) }
    }

    func write<T>(_ body: (WrappedTransaction) throws -> T) throws -> T {
        try faults.step()
        defer { afterCommit.run() }
        return try base.write { transaction in
            do {
                let result = try body(WrappedTransaction(base: transaction, faults: faults, remembered: remembered))
                try faults.step()
                return result
            } catch {
                remembered?.removeAll()
                throw error
            }
        }
    }

    func close() { closings.add(1, ordering: .sequentiallyConsistent) }
}

/// Opens a store over an engine, and defines tables.
func openStore<Engine: OrderedKeyValueEngine>(
    over engine: Engine = WrappedEngine(), _ tables: TableSchema...
) throws -> (engine: Engine, store: KeyValueStore<Engine>) {
    let store = try KeyValueStore(engine: engine)
    try store.define(tables)
    return (engine, store)
}

/// The keys that a ``WrappedEngine`` remembers.
final class RememberedKeys: Sendable {
    private let keys = Mutex<Set<[UInt8]>>([])

    func contains(_ key: UnsafeRawBufferPointer) -> Bool { keys.withLock { $0.contains(Array(key)) } }

    func insert(_ key: UnsafeRawBufferPointer) { keys.withLock { _ = $0.insert(Array(key)) } }

    func remove(_ key: UnsafeRawBufferPointer) { keys.withLock { _ = $0.remove(Array(key)) } }

    func removeAll() { keys.withLock { $0 = [] } }
}

/// A closure that runs once, between two steps of an engine.
final class Interruption: Sendable {
    private let body = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }

    func run() {
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }
}

/// The failures of a ``WrappedEngine``.
final class Faults: Sendable {
    private let remaining = Mutex<Int?>(nil)
    private let failed = Mutex(false)

    /// Whether an operation has failed since the failures were last begun.
    var hasFailed: Bool { failed.withLock { $0 } }

    /// Lets `count` operations succeed and all later ones fail. With `nil`, no operation fails.
    func begin(after count: Int?) {
        if count != nil { failed.withLock { $0 = false } }
        remaining.withLock { $0 = count }
    }

    /// Returns the number of operations, out of `count`, that `body` does not use.
    func remainder(of count: Int, _ body: () throws -> Void) rethrows -> Int {
        begin(after: count)
        defer { begin(after: nil) }
        try body()
        return remaining.withLock { $0 } ?? count
    }

    func step() throws {
        try remaining.withLock { remaining in
            guard let count = remaining else { return }
            guard count > 0 else {
                failed.withLock { $0 = true }
                throw StoreError(.io, "a failure was asked for", engineCode: 5)
            }
            remaining = count - 1
        }
    }
}

/// A snapshot or transaction whose operations are counted and may fail.
protocol CountedSnapshot: KeyValueSnapshot {
    associatedtype Base: KeyValueSnapshot
    var base: Base { get }
    var faults: Faults { get }
}

extension CountedSnapshot {
    func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try faults.step()
        return try base.get(key, body)
    }

    func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        try faults.step()
        try base.scan(range, descending: descending) { key, value in
            try faults.step()
            return try body(key, value)
        }
    }
}

struct WrappedSnapshot: CountedSnapshot {
    let base: MemorySnapshot
    let faults: Faults
}

struct WrappedTransaction: CountedSnapshot, KeyValueTransaction {
    let base: MemoryTransaction
    let faults: Faults
    let remembered: RememberedKeys?

    func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        try faults.step()
        base.put(key, value)
    }

    func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        try faults.step()
        remembered?.remove(key)
        return base.delete(key)
    }

    var remembersKeys: Bool { remembered != nil }

    func remembers(_ key: UnsafeRawBufferPointer) -> Bool { remembered?.contains(key) ?? false }

    func remember(_ key: UnsafeRawBufferPointer) { remembered?.insert(key) }
}
