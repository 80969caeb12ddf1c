import Foundation
import Synchronization
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestSupport

/// Returns the `StoreError` that `body` throws, or `nil` if it succeeds. Any other error is an issue.
func failure(_ body: () throws -> Void) -> StoreError? {
    do {
        try body()
    } catch let error as StoreError {
        return error
    } catch {
        Issue.record(error)
    }
    return nil
}

/// Opens a store over an engine, and defines tables.
func openStore<Engine: OrderedKeyValueEngine>(
    over engine: Engine = WrappedEngine(), _ tables: TableSchema...
) throws -> (engine: Engine, store: KeyValueStore<Engine>) {
    let store = try KeyValueStore(engine: engine)
    try store.define(tables)
    return (engine, store)
}

/// Runs `body` on several threads at the same time and waits for all of them.
func onThreads(_ count: Int = 1, _ body: @escaping @Sendable (Int) throws -> Void) throws {
    let failure = Mutex<(any Error)?>(nil)
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            do { try body(number) } catch { failure.withLock { $0 = error } }
            group.leave()
        }
    }
    try group.finish()
    if let error = failure.withLock({ $0 }) { throw error }
}
