internal import Foundation
internal import Synchronization
internal import TidelineStore

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#endif

/// Lets reads in beside each other and beside one write, one write at a time in the order in which they came, and
/// nothing after the store was closed.
///
/// Every read passes through it: what need not wait takes one short lock.
final class WorkGate: Sendable {
    private struct State {
        /// The thread of each read under way.
        var readers: [UInt] = []
        var writer: UInt?
        /// The number that the next writer gets, and the one whose turn it is.
        var nextTurn = 0
        var turn = 0
        var isClosed = false

        /// Whether it is that writer's turn, which is then taken; nil while it has to wait.
        mutating func takeTurn(_ number: Int, _ thread: UInt) -> Bool? {
            guard !isClosed else { return false }
            guard turn == number else { return nil }
            writer = thread
            return true
        }
    }

    private let state = LockedValue(State())
    /// What those wait for that cannot go on. Who changes the state so that one can, wakes them after it let go of the
    /// state; as they look at it while they hold this lock, none sleeps through.
    private let condition = NSCondition()
    /// Whether the store was let go of.
    private let isReleased = Mutex(false)

    func beginRead() throws(StoreError) {
        let thread = Self.currentThread
        let isOpen = state.withLock { state in
            if !state.isClosed { state.readers.append(thread) }
            return !state.isClosed
        }
        guard isOpen else { throw Self.closed }
    }

    func endRead() {
        let thread = Self.currentThread
        let isClosed = state.withLock { state in
            if let index = state.readers.lastIndex(of: thread) {
                state.readers.swapAt(index, state.readers.count - 1)
                state.readers.removeLast()
            }
            return state.isClosed
        }
        if isClosed { wake() }
    }

    /// Waits until no other thread writes.
    func beginWrite() throws(StoreError) {
        let thread = Self.currentThread
        let (number, isTaken) = try state.withLock { state throws(StoreError) in
            guard state.writer != thread, !state.readers.contains(thread) else {
                throw StoreError(.busy, "a write began inside a read or write of the same store on the same thread")
            }
            guard !state.isClosed else { throw Self.closed }
            state.nextTurn += 1
            return (state.nextTurn - 1, state.takeTurn(state.nextTurn - 1, thread))
        }
        guard isTaken != true else { return }
        wait { state.withLock { $0.takeTurn(number, thread) } != nil }
        guard state.withLock({ $0.writer == thread }) else { throw Self.closed }
    }

    func endWrite() {
        let isAwaited = state.withLock { state in
            state.writer = nil
            state.turn += 1
            return state.turn != state.nextTurn || state.isClosed
        }
        if isAwaited { wake() }
    }

    /// How many writers wait for their turn; what happens to one that waits could not be tested without it.
    var waitingWriterCount: Int {
        state.withLock { $0.nextTurn - $0.turn - ($0.writer == nil ? 0 : 1) }
    }

    /// Refuses further work, waits for that in flight, and calls `release` once.
    func close(_ release: () throws -> Void) throws {
        let thread = Self.currentThread
        try state.withLock { state throws(StoreError) in
            guard state.writer != thread, !state.readers.contains(thread) else {
                throw StoreError(.busy, "the store was closed inside a read or write of it on the same thread")
            }
            state.isClosed = true
        }
        wake()
        wait { state.withLock { $0.writer == nil && $0.readers.isEmpty } }
        try isReleased.withLock { isReleased in
            guard !isReleased else { return }
            isReleased = true
            try release()
        }
    }

    private func wait(until isReached: () -> Bool) {
        condition.lock()
        defer { condition.unlock() }
        while !isReached() { condition.wait() }
    }

    private func wake() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    private static let closed = StoreError(.closed, "the store is closed")

    /// A number that no two threads have at one time; a thread is a number or a pointer, as the system likes it.
    private static var currentThread: UInt {
        let thread = pthread_self()
        return withUnsafeBytes(of: thread) { $0.loadUnaligned(as: UInt.self) }
    }
}
