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

/// A read-write lock that also closes the store.
///
/// Reads run concurrently with each other and with one write. Writes run one at a time in the order of their requests.
/// No work begins after the store was closed. Every read acquires the lock, so an uncontended read or write takes only
/// one short critical section.
final class WorkGate: Sendable {
    private struct State {
        /// The thread of each active read.
        var readers: [UInt] = []
        var writer: UInt?
        /// The ticket number of the next writer, and the number that is served.
        var nextTurn = 0
        var turn = 0
        var isClosed = false

        /// Returns whether the writer with that number may write now, or `nil` if it has to wait. `false` means that
        /// the store is closed.
        mutating func takeTurn(_ number: Int, _ thread: UInt) -> Bool? {
            guard !isClosed else { return false }
            guard turn == number else { return nil }
            writer = thread
            return true
        }
    }

    private let state = LockedValue(State())
    /// The condition that blocked threads wait for.
    ///
    /// A thread that makes progress possible for others signals the condition after it has released `state`. Waiting
    /// threads check the state while they hold the condition's lock, so no wakeup is lost.
    private let condition = NSCondition()
    /// Whether the store's resources were released.
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

    /// The number of writers that are waiting. Tests of waiting writers need it.
    var waitingWriterCount: Int {
        state.withLock { $0.nextTurn - $0.turn - ($0.writer == nil ? 0 : 1) }
    }

    /// Rejects further work, waits for operations in progress, and calls `release` once.
    func close(_ release: () throws -> Void) throws {
        let thread = Self.currentThread
        try state.withLock { state throws(StoreError) in
            guard state.writer != thread, !state.readers.contains(thread) else {
                throw StoreError(
                    .busy, "the store was closed inside a read or write of the same store on the same thread")
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

    /// A number that identifies the current thread. A thread identifier is a number or a pointer, depending on the
    /// system.
    private static var currentThread: UInt {
        let thread = pthread_self()
        return unsafe withUnsafeBytes(of: thread) { unsafe $0.loadUnaligned(as: UInt.self) }
    }
}
