internal import CLMDB
internal import Foundation
internal import TidelineStore

/// Who reads an environment in this process, who writes, and who may move its map.
///
/// The map is moved only while nobody looks at it: `mdb_env_set_mapsize` would pull it away under them. LMDB makes
/// writers wait for each other by itself, but a thread that asks twice would wait for itself, unseen.
///
/// `@unchecked Sendable`: every property that changes is used under `condition`'s lock only.
final class Turnstile: @unchecked Sendable {
    private let condition = NSCondition()
    /// The thread of each read under way.
    private var readers: [UInt] = []
    /// The thread whose turn to write it is.
    private var writer: UInt?
    /// Whether the writer is in a transaction of LMDB or waits for one.
    private var isTransacting = false
    /// The thread that moves the map, or waits until it may.
    private var mover: UInt?
    private var isMoving = false
    private var waiting = 0

    private static var thread: UInt { UInt(tideline_lmdb_current_thread()) }

    // MARK: Reading

    func beginReading() {
        condition.lock()
        defer { condition.unlock() }
        let thread = Self.thread
        // Who is in a read or transaction already goes ahead: the mover waits for its end.
        while mover != nil, isMoving || !(readers.contains(thread) || isTransacting && writer == thread) { wait() }
        readers.append(thread)
    }

    func endReading() {
        condition.lock()
        defer { condition.unlock() }
        guard let index = readers.lastIndex(of: Self.thread) else { return }
        readers.swapAt(index, readers.count - 1)
        readers.removeLast()
        wake()
    }

    // MARK: Writing

    /// Waits until no other thread of this process writes.
    func takeWritersTurn(path: String) throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        guard writer != Self.thread else {
            throw StoreError(
                .busy, "a write began inside a write of another store in the same folder, on the same thread",
                path: path)
        }
        while writer != nil { wait() }
        writer = Self.thread
    }

    func endWritersTurn() {
        condition.lock()
        defer { condition.unlock() }
        writer = nil
        isTransacting = false
        wake()
    }

    /// Before a transaction of LMDB is asked for.
    func beginTransacting() {
        condition.lock()
        defer { condition.unlock() }
        while mover != nil { wait() }
        isTransacting = true
    }

    /// After a transaction of LMDB has ended or could not be had.
    func endTransacting() {
        condition.lock()
        defer { condition.unlock() }
        isTransacting = false
        wake()
    }

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
        condition.lock()
        defer { condition.unlock() }
        let thread = Self.thread
        let deadline = Date(timeIntervalSinceNow: max(0, timeout / .seconds(1)))
        guard !readers.contains(thread) else {
            throw StoreError(.busy, "the map has to grow inside a read of the same thread: end that first", path: path)
        }
        while mover != nil { try wait(until: deadline, path: path) }
        mover = thread
        do {
            while !readers.isEmpty || isTransacting && writer != thread { try wait(until: deadline, path: path) }
        } catch {
            mover = nil
            wake()
            throw error
        }
        isMoving = true
    }

    private func endMoving() {
        condition.lock()
        defer { condition.unlock() }
        mover = nil
        isMoving = false
        wake()
    }

    // MARK: Waiting

    private func wait() {
        waiting += 1
        condition.wait()
        waiting -= 1
    }

    private func wait(until deadline: Date, path: String) throws(StoreError) {
        waiting += 1
        defer { waiting -= 1 }
        guard condition.wait(until: deadline) else {
            throw StoreError(
                .busy, "the map has to grow, but reads of this process did not end in time: end them, and try again",
                path: path)
        }
    }

    private func wake() {
        if waiting > 0 { condition.broadcast() }
    }
}
