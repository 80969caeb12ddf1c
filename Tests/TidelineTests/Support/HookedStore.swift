import Synchronization
import TidelineStore
import TidelineTestStores

/// A store over another one, in which a test can wait or fail at the end of any write.
final class HookedStore: LocalStore {
    /// Called inside each write transaction after its body, with the number of the write; what it throws undoes it.
    typealias Hook = @Sendable (Int) throws -> Void

    let base: AnyStore
    private let state = Mutex<(writes: Int, hook: Hook?)>((0, nil))

    init(_ base: AnyStore) { self.base = base }

    /// Writes that were tried since the hook was set.
    var writes: Int { state.withLock { $0.writes } }

    /// Counts writes from 1 again and calls `hook` in each.
    func onWrite(_ hook: Hook?) { state.withLock { $0 = (0, hook) } }

    var capabilities: StoreCapabilities { base.capabilities }
    func define(_ tables: [TableSchema]) throws { try base.define(tables) }
    func tables() throws -> [TableSchema] { try base.tables() }
    func read<T>(_ body: (AnyReader) throws -> T) throws -> T { try base.read(body) }
    func close() throws { try base.close() }

    func write<T>(_ body: (AnyWriter) throws -> T) throws -> T {
        let (number, hook) = state.withLock { state in
            state.writes += 1
            return (state.writes, state.hook)
        }
        return try base.write { writer in
            let result = try body(writer)
            try hook?(number)
            return result
        }
    }
}
