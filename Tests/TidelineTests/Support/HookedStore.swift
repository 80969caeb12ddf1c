import Synchronization
import TidelineStore
import TidelineTestStores

/// A store that wraps another one, in which a test can wait or fail at the end of any write.
final class HookedStore: StoreLayer {
    typealias Reader = AnyStore.Reader
    typealias Writer = AnyStore.Writer

    /// Called in each write transaction after its body, with the number of the write. An error rolls it back.
    typealias Hook = @Sendable (Int) throws -> Void

    let base: TestStore
    private let state = Mutex(State())

    private struct State {
        var writes = 0
        var hook: Hook?
        var define: (@Sendable () throws -> Void)?
        var observer: (@Sendable () -> Void)?
        var readEnd: (@Sendable () -> Void)?
    }

    init(_ base: TestStore) { self.base = base }

    /// The number of attempted writes since the hook was set.
    var writes: Int { state.withLock { $0.writes } }

    /// Restarts the count of writes at 1 and calls `hook` in each write.
    func onWrite(_ hook: Hook?) { state.withLock { ($0.writes, $0.hook) = (0, hook) } }

    /// Calls `hook` once, before the next definition of tables.
    func beforeDefinition(_ hook: @escaping @Sendable () throws -> Void) { state.withLock { $0.define = hook } }

    /// Calls `observer` at the start of each definition, read and write.
    func observe(_ observer: (@Sendable () -> Void)?) { state.withLock { $0.observer = observer } }
    /// Calls `observer` at the end of each read.
    func observeReadEnds(_ observer: (@Sendable () -> Void)?) { state.withLock { $0.readEnd = observer } }
    private func notifyObserver() { state.withLock { $0.observer }?() }

    func define(_ tables: [TableSchema]) throws {
        try willDefine()
        try base.define(tables)
    }
    func redefine(_ body: (AnyStore.Writer) throws -> [TableSchema]) throws {
        try willDefine()
        try base.redefine(body)
    }
    private func willDefine() throws {
        let hook = state.withLock { state in
            defer { state.define = nil }
            return state.define
        }
        notifyObserver()
        try hook?()
    }
    func read<T>(_ body: (AnyStore.Reader) throws -> T) throws -> T {
        notifyObserver()
        defer { state.withLock { $0.readEnd }?() }
        return try base.read(body)
    }

    func write<T>(_ body: (AnyStore.Writer) throws -> T) throws -> T {
        notifyObserver()
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
