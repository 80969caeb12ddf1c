import Foundation
import Synchronization
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// A store whose transactions a test holds, counts, and lets fail.
final class ControlledStore: StoreLayer {
    typealias Reader = AnyStore.Reader

    /// The end of a transaction.
    enum End: Sendable {
        case commit
        /// Fails before the body runs.
        case failAtBegin(StoreError)
        /// Fails after the body, and is rolled back.
        case failAtCommit(StoreError)
        /// Fails although it was committed.
        case failAfterCommit(StoreError)
    }

    /// The place at which a transaction waits, outside of the transaction of the base, so that others can read.
    enum Hold: Sendable {
        /// Before it begins, as if another process was writing.
        case begin
        case end
    }

    private struct State {
        var writes = 0
        var hold: Hold?
        var isWaiting = false
        var refused: String?
        var failure: StoreError?
        var end: @Sendable (_ write: Int) -> End = { _ in .commit }
    }

    let base: TestStore
    private let state = Mutex(State())

    init(_ base: TestStore) { self.base = base }

    /// The number of transactions that have begun, or wait to begin.
    var writes: Int { state.withLock { $0.writes } }

    /// Makes every transaction wait until ``release()``.
    func hold(at place: Hold) { state.withLock { $0.hold = place } }
    func release() { state.withLock { ($0.hold, $0.isWaiting) = (nil, false) } }
    /// Whether a transaction waits.
    var isHolding: Bool { state.withLock { $0.isWaiting } }
    /// Makes the store refuse a row, as it refuses one that does not fit its table.
    func refuse(id: String) { state.withLock { $0.refused = id } }
    /// Makes every later transaction fail, also one that reads.
    func fail(with error: StoreError) { state.withLock { $0.failure = error } }
    private func checkFailure() throws { if let error = state.withLock({ $0.failure }) { throw error } }
    /// Starts counting at 0, and determines the end of each transaction by its number, from 1.
    func end(_ end: @escaping @Sendable (_ write: Int) -> End) {
        state.withLock { ($0.writes, $0.end) = (0, end) }
    }

    func read<T>(_ body: (AnyStore.Reader) throws -> T) throws -> T {
        try checkFailure()
        return try base.read(body)
    }

    func redefine(_ body: (Writer) throws -> [TableSchema]) throws {
        let refused = state.withLock { $0.refused }
        try base.redefine { try body(Writer(base: $0, refused: refused)) }
    }

    func write<T>(_ body: (Writer) throws -> T) throws -> T {
        try checkFailure()
        let (number, end) = state.withLock { state in
            state.writes += 1
            return (state.writes, state.end)
        }
        try wait(at: .begin)
        let refused = state.withLock { $0.refused }
        let failure = end(number)
        if case .failAtBegin(let error) = failure { throw error }
        let result = try base.write { writer in
            let result = try body(Writer(base: writer, refused: refused))
            if case .failAtCommit(let error) = failure { throw error }
            return result
        }
        try wait(at: .end)
        if case .failAfterCommit(let error) = failure { throw error }
        return result
    }

    private func wait(at place: Hold) throws {
        try waitUntil("the release of the store") {
            state.withLock { state in
                guard state.hold == place else { return true }
                state.isWaiting = true
                return false
            }
        }
    }

    struct Writer: WriterLayer {
        let base: AnyStore.Writer
        let refused: String?

        func upsert(_ rows: borrowing PackedRows, into table: String) throws {
            try base.upsert(rows, into: table)
            try rows.forEachRow { row in
                guard row.id.text == refused else { return }
                throw StoreError(.invalidValue, "the row is refused", table: table, id: refused)
            }
        }
    }
}
