internal import Foundation
internal import Synchronization
package import TidelineKeyValue
package import TidelineStore

/// A mistake that the author of an engine may make.
package enum EngineFlaw: String, CaseIterable, Sendable {
    case keysComparedSigned, emptyValueIsAbsent, upperBoundIncluded, descendingIgnored, errorSwallowed,
        scanCutAtThousand
    case deleteAlwaysTrue, overAlwaysReplaces, ownChangesUnseenInScans, changesKeptAfterError, snapshotMoves
    case deletionsNotNumbered, deletedKeysRemembered, longKeysCut

    /// The check that finds the flaw.
    package var check: String {
        switch self {
        case .keysComparedSigned: "ENG-001"
        case .longKeysCut: "ENG-002"
        case .emptyValueIsAbsent: "ENG-003"
        case .upperBoundIncluded: "ENG-004"
        case .descendingIgnored, .scanCutAtThousand: "ENG-005"
        case .errorSwallowed: "ENG-006"
        case .deleteAlwaysTrue: "ENG-010"
        case .overAlwaysReplaces: "ENG-011"
        case .ownChangesUnseenInScans: "ENG-012"
        case .changesKeptAfterError: "ENG-013"
        case .snapshotMoves: "ENG-014"
        case .deletionsNotNumbered: "ENG-015"
        case .deletedKeysRemembered: "ENG-016"
        }
    }
}

/// An engine in memory that keeps every promise of `OrderedKeyValueEngine`, or breaks one.
package final class PlainEngine: OrderedKeyValueEngine {
    struct State: Sendable {
        var map = SortedMap<[UInt8]>()
        var number: UInt64 = 1
        var remembered: Set<[UInt8]> = []
    }

    package let capabilities = StoreCapabilities(name: "plain", isPersistent: false)
    package let maximumKeyLength = 200
    fileprivate let flaw: EngineFlaw?
    fileprivate let committed = Mutex(State())
    private let writing = NSLock()

    /// Creates an empty engine.
    package init(flaw: EngineFlaw? = nil) { self.flaw = flaw }

    package func read<T>(_ body: (PlainSnapshot) throws -> T) throws -> T {
        try body(PlainSnapshot(engine: self, state: committed.withLock { $0 }))
    }

    package func write<T>(_ body: (PlainTransaction) throws -> T) throws -> T {
        writing.lock()
        defer { writing.unlock() }
        let transaction = PlainTransaction(PlainSnapshot(engine: self, state: committed.withLock { $0 }))
        let result: T
        do { result = try body(transaction) } catch {
            if flaw == .changesKeptAfterError { commit(transaction) }
            throw error
        }
        commit(transaction)
        return result
    }

    private func commit(_ transaction: PlainTransaction) {
        var state = transaction.snapshot.state
        if transaction.isNumbered { state.number += 1 }
        committed.withLock { $0 = state }
    }

    package func close() throws {}
}

/// The state of the engine at one time.
package struct PlainSnapshot: KeyValueSnapshot {
    let engine: PlainEngine
    var state: PlainEngine.State
    private var map: SortedMap<[UInt8]> {
        engine.flaw == .snapshotMoves ? engine.committed.withLock { $0.map } : state.map
    }

    package var commitNumber: UInt64? { state.number }

    package func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        guard let value = map[stored(key)], !(value.isEmpty && engine.flaw == .emptyValueIsAbsent) else { return false }
        try value.withUnsafeBytes(body)
        return true
    }

    package func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        var found = range.isEmpty ? [] : map.entries(from: range.lower, below: range.upper)
        if engine.flaw == .upperBoundIncluded, !range.isEmpty, let value = map[range.upper] {
            found.append((range.upper, value))
        }
        if engine.flaw == .keysComparedSigned {
            found.sort {
                $0.key.map { Int8(bitPattern: $0) }.lexicographicallyPrecedes($1.key.map { Int8(bitPattern: $0) })
            }
        }
        if engine.flaw == .scanCutAtThousand { found = Array(found.prefix(1_000)) }
        for entry in descending && engine.flaw != .descendingIgnored ? found.reversed() : found {
            do {
                let step = try entry.key.withUnsafeBytes { key in
                    try entry.element.withUnsafeBytes { try body(key, $0) }
                }
                if step == .stop { return }
            } catch {
                guard engine.flaw == .errorSwallowed else { throw error }
                return
            }
        }
    }

    fileprivate func stored(_ key: UnsafeRawBufferPointer) -> [UInt8] {
        engine.flaw == .longKeysCut ? Array(key.prefix(128)) : Array(key)
    }
}

/// A transaction of the engine.
package final class PlainTransaction: KeyValueTransaction {
    fileprivate var snapshot: PlainSnapshot
    private let start: PlainSnapshot
    fileprivate var isNumbered = false

    fileprivate init(_ snapshot: PlainSnapshot) {
        self.snapshot = snapshot
        start = snapshot
    }

    package var commitNumber: UInt64? { snapshot.commitNumber }
    package var ownCommitNumber: UInt64? { snapshot.state.number + (isNumbered ? 1 : 0) }
    package var remembersKeys: Bool { true }

    package func get(_ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        try snapshot.get(key, body)
    }

    package func scan(
        _ range: KeyRange, descending: Bool,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> ScanStep
    ) throws {
        let seen = snapshot.engine.flaw == .ownChangesUnseenInScans ? start : snapshot
        try seen.scan(range, descending: descending, body)
    }

    package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws {
        snapshot.state.map[snapshot.stored(key)] = Array(value)
        isNumbered = true
    }

    package func put(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        over replaces: (_ existing: UnsafeRawBufferPointer) throws -> Bool
    ) throws -> Bool {
        var isStored = true
        let isFound = try get(key) { isStored = try replaces($0) }
        if isStored || snapshot.engine.flaw == .overAlwaysReplaces { try put(key, value) }
        return !isFound
    }

    package func delete(_ key: UnsafeRawBufferPointer) throws -> Bool {
        let key = snapshot.stored(key)
        if snapshot.engine.flaw != .deletedKeysRemembered { snapshot.state.remembered.remove(key) }
        guard snapshot.state.map[key] != nil else { return snapshot.engine.flaw == .deleteAlwaysTrue }
        snapshot.state.map[key] = nil
        if snapshot.engine.flaw != .deletionsNotNumbered { isNumbered = true }
        return true
    }

    package func remembers(_ key: UnsafeRawBufferPointer) -> Bool { snapshot.state.remembered.contains(Array(key)) }
    package func remember(_ key: UnsafeRawBufferPointer) { snapshot.state.remembered.insert(Array(key)) }
}
