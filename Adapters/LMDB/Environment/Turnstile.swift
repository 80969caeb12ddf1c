internal import CLMDB
internal import Foundation
internal import TidelineStore

/// Who reads an environment in this process, who writes, and who may move its map.
///
/// The map is moved only while nobody looks at it: `mdb_env_set_mapsize` would pull it away under them. LMDB makes
/// writers wait for each other by itself, but a thread that asks twice would wait for itself, unseen.
///
/// Every read passes through it: what need not wait takes one short lock.
final class Turnstile: Sendable {
    fileprivate struct State {
        /// The thread of each read under way.
        var readers: [UInt] = []
        /// The thread whose turn to write it is.
        var writer: UInt?
        /// Whether the writer is in a transaction of LMDB or waits for one.
        var isTransacting = false
        /// The thread that moves the map, or waits until it may.
        var mover: UInt?
        var isMoving = false
        /// How many wait for a change of this.
        var waiting = 0
        /// Transactions to read in that nobody uses. They lie here so that a read takes this one lock only.
        var idle: [ReadTransaction] = []
    }

    private static let maximumIdle = 64

    private let state = LockedValue(State())
    /// What those wait for that cannot go on. Who changes the state wakes them after it let go of the state; as they look
    /// at it while they hold this lock, none sleeps through.
    private let condition = NSCondition()

    private static var thread: UInt { UInt(tideline_lmdb_current_thread()) }

    // MARK: Reading

    func beginReading() {
        let thread = Self.thread
        if !state.withLock({ $0.takeReader(thread) }) { wait { $0.takeReader(thread) } }
    }

    /// Begins reading in an idle transaction, if there is one.
    func beginReadingIdle() -> ReadTransaction? {
        let thread = Self.thread
        let taken = state.withLock { state in state.takeReader(thread) ? (true, state.idle.popLast()) : (false, nil) }
        if taken.0 { return taken.1 }
        wait { $0.takeReader(thread) }
        return takeIdle()
    }

    func endReading() {
        let thread = Self.thread
        change { $0.leave(thread) }
    }

    /// Ends reading and keeps the transaction for the next reader, or ends it where there are enough.
    func endReading(keeping reader: ReadTransaction) {
        let thread = Self.thread
        var isKept = false
        change { state in
            guard state.idle.count < Self.maximumIdle else { return }
            state.idle.append(reader)
            state.leave(thread)
            isKept = true
        }
        if isKept { return }
        // While the map stands still.
        reader.end()
        endReading()
    }

    // MARK: Idle transactions

    func takeIdle() -> ReadTransaction? { state.withLock { $0.idle.popLast() } }

    /// Ends those that nobody uses: their places in the table of readers become free.
    func dropIdle() {
        let dropped = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for reader in dropped { reader.end() }
    }

    // MARK: Writing

    /// Waits until no other thread of this process writes.
    func takeWritersTurn(path: String) throws(StoreError) {
        let thread = Self.thread
        guard state.withLock({ $0.writer != thread }) else {
            throw StoreError(
                .busy, "a write began inside a write of another store in the same folder, on the same thread",
                path: path)
        }
        if !state.withLock({ $0.takeWriter(thread) }) { wait { $0.takeWriter(thread) } }
    }

    func endWritersTurn() {
        change { state in
            state.writer = nil
            state.isTransacting = false
        }
    }

    /// Before a transaction of LMDB is asked for.
    func beginTransacting() {
        if !state.withLock({ $0.takeTransaction() }) { wait { $0.takeTransaction() } }
    }

    /// After a transaction of LMDB has ended or could not be had.
    func endTransacting() { change { $0.isTransacting = false } }

    // MARK: Moving the map

    /// Runs `body` when no other thread looks at the map, and nobody begins to meanwhile.
    ///
    /// The caller may be in its own write transaction, and sees to that by itself.
    func withoutOthers<T>(
        within timeout: Duration, path: String, _ body: () throws(StoreError) -> T
    ) throws(StoreError) -> T {
        try beginMoving(within: timeout, path: path)
        defer { endMoving() }
        return try body()
    }

    private func beginMoving(within timeout: Duration, path: String) throws(StoreError) {
        let thread = Self.thread
        let deadline = Date(timeIntervalSinceNow: max(0, timeout / .seconds(1)))
        guard state.withLock({ !$0.readers.contains(thread) }) else {
            throw StoreError(.busy, "the map has to grow inside a read of the same thread: end that first", path: path)
        }
        guard wait(until: deadline, { $0.takeMover(thread) }) else { throw Self.busy(path) }
        guard wait(until: deadline, { $0.beginMoving(thread) }) else {
            change { $0.mover = nil }
            throw Self.busy(path)
        }
    }

    private func endMoving() {
        change { state in
            state.mover = nil
            state.isMoving = false
        }
    }

    private static func busy(_ path: String) -> StoreError {
        StoreError(
            .busy, "the map has to grow, but reads of this process did not end in time: end them, and try again",
            path: path)
    }

    // MARK: Waiting

    /// Changes the state, and wakes those who wait for that.
    private func change(_ change: (inout State) -> Void) {
        let isAwaited = state.withLock { state in
            change(&state)
            return state.waiting > 0
        }
        guard isAwaited else { return }
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// Waits until `take` succeeds.
    /// - Returns: Whether it did before the deadline.
    @discardableResult
    private func wait(until deadline: Date? = nil, _ take: (inout State) -> Bool) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        state.withLock { $0.waiting += 1 }
        defer { state.withLock { $0.waiting -= 1 } }
        while !state.withLock({ take(&$0) }) {
            guard let deadline else {
                condition.wait()
                continue
            }
            guard condition.wait(until: deadline) else { return false }
        }
        return true
    }
}

extension Turnstile.State {
    fileprivate mutating func leave(_ thread: UInt) {
        guard let last = readers.last else { return }
        // Most often it is the only one.
        if last == thread {
            readers.removeLast()
        } else if let index = readers.lastIndex(of: thread) {
            readers[index] = last
            readers.removeLast()
        }
    }

    fileprivate mutating func takeReader(_ thread: UInt) -> Bool {
        // Who is in a read or transaction already goes ahead: the mover waits for its end.
        if mover != nil, isMoving || !(readers.contains(thread) || isTransacting && writer == thread) { return false }
        readers.append(thread)
        return true
    }

    fileprivate mutating func takeWriter(_ thread: UInt) -> Bool {
        guard writer == nil else { return false }
        writer = thread
        return true
    }

    fileprivate mutating func takeTransaction() -> Bool {
        guard mover == nil else { return false }
        isTransacting = true
        return true
    }

    fileprivate mutating func takeMover(_ thread: UInt) -> Bool {
        guard mover == nil else { return false }
        mover = thread
        return true
    }

    fileprivate mutating func beginMoving(_ thread: UInt) -> Bool {
        guard readers.isEmpty, !isTransacting || writer == thread else { return false }
        isMoving = true
        return true
    }
}
