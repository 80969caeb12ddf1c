internal import CLMDB
internal import Foundation
internal import TidelineStore

/// The locks of an environment within this process: for readers, for the writer, and for resizing the map.
///
/// The map is resized only while no other thread uses it, because `mdb_env_set_mapsize` unmaps it. LMDB itself makes
/// writers wait for each other, but a thread that began a second write would deadlock without an error.
///
/// Every read takes this lock; without contention it is a single short lock.
final class MapResizeLock: Sendable {
    fileprivate struct State {
        /// The thread of each read in flight.
        var readers: [UInt] = []
        /// The thread that holds the write lock.
        var writer: UInt?
        /// Whether the writer is in an LMDB transaction or waits for one.
        var isTransacting = false
        /// The thread that resizes the map, or waits to do so.
        var mover: UInt?
        var isMoving = false
        /// The number of threads that wait for a change of the state.
        var waiting = 0
        /// Idle read transactions, kept here so that a read takes only this one lock.
        var idle: [ReadTransaction] = []
    }

    private static let maximumIdle = 64

    private let state = LockedValue(State())
    /// The condition on which threads wait. A thread that changes the state signals it after it releases the state's
    /// lock. Waiting threads check the state while they hold the condition's lock, so no signal is lost.
    private let condition = NSCondition()

    private static var thread: UInt { UInt(tideline_lmdb_current_thread()) }

    // MARK: Reading

    func beginReading() {
        let thread = Self.thread
        if !state.withLock({ $0.takeReader(thread) }) { wait { $0.takeReader(thread) } }
    }

    /// Begins a read in an idle transaction, if there is one.
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

    /// Ends a read and keeps the transaction for the next reader, or ends the transaction if enough are idle.
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
        // The read is still in flight, so the map cannot be resized.
        reader.end()
        endReading()
    }

    // MARK: Idle transactions

    func takeIdle() -> ReadTransaction? { state.withLock { $0.idle.popLast() } }

    /// Ends all idle transactions, which frees their entries in the reader table.
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

    /// Called before an LMDB transaction begins.
    func beginTransacting() {
        if !state.withLock({ $0.takeTransaction() }) { wait { $0.takeTransaction() } }
    }

    /// Called after an LMDB transaction has ended or could not begin.
    func endTransacting() { change { $0.isTransacting = false } }

    // MARK: Resizing the map

    /// Runs `body` while no other thread uses the map or can begin to use it.
    ///
    /// The caller may be in its own write transaction, and must ensure that this is safe.
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
            throw StoreError(.busy, "the map has to grow inside a read of the same thread; end it first", path: path)
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
            .busy, "the map has to grow, but reads of this process did not end in time; end them and try again",
            path: path)
    }

    // MARK: Waiting

    /// Changes the state, and wakes waiting threads.
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
    ///
    /// - Returns: Whether it succeeded before the deadline.
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

extension MapResizeLock.State {
    fileprivate mutating func leave(_ thread: UInt) {
        guard let last = readers.last else { return }
        // Usually the list has only one reader.
        if last == thread {
            readers.removeLast()
        } else if let index = readers.lastIndex(of: thread) {
            readers[index] = last
            readers.removeLast()
        }
    }

    fileprivate mutating func takeReader(_ thread: UInt) -> Bool {
        // A thread that is already in a read or a transaction proceeds, because the resize waits for it to end.
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
