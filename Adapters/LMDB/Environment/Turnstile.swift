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
    }

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

    func endReading() {
        let thread = Self.thread
        change { state in
            guard let index = state.readers.lastIndex(of: thread) else { return }
            state.readers.swapAt(index, state.readers.count - 1)
            state.readers.removeLast()
        }
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
