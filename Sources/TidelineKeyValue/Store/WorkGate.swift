internal import Foundation
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
/// `@unchecked Sendable`: every property that changes is used under `condition`'s lock only.
final class WorkGate: @unchecked Sendable {
    private let condition = NSCondition()
    /// How many reads each thread is in.
    private var readsByThread: [UInt: Int] = [:]
    private var writingThread: UInt?
    /// The number that the next writer gets, and the one whose turn it is.
    private var nextTurn = 0
    private var turn = 0
    private var isClosed = false
    private var isReleased = false

    func beginRead() throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { throw Self.closed }
        readsByThread[Self.currentThread, default: 0] += 1
    }

    func endRead() {
        condition.lock()
        defer { condition.unlock() }
        let thread = Self.currentThread
        let reads = (readsByThread[thread] ?? 1) - 1
        readsByThread[thread] = reads == 0 ? nil : reads
        if isClosed { condition.broadcast() }
    }

    /// Waits until no other thread writes.
    func beginWrite() throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        let thread = Self.currentThread
        guard writingThread != thread, readsByThread[thread] == nil else {
            throw StoreError(.busy, "a write began inside a read or write of the same store on the same thread")
        }
        guard !isClosed else { throw Self.closed }
        let number = nextTurn
        nextTurn += 1
        while !isClosed, number != turn { condition.wait() }
        guard !isClosed else { throw Self.closed }
        writingThread = thread
    }

    func endWrite() {
        condition.lock()
        defer { condition.unlock() }
        writingThread = nil
        turn += 1
        if turn != nextTurn || isClosed { condition.broadcast() }
    }

    /// How many writers wait for their turn; what happens to one that waits could not be tested without it.
    var waitingWriterCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return nextTurn - turn - (writingThread == nil ? 0 : 1)
    }

    /// Refuses further work, waits for that in flight, and calls `release` once.
    func close(_ release: () throws -> Void) throws {
        condition.lock()
        defer { condition.unlock() }
        let thread = Self.currentThread
        guard writingThread != thread, readsByThread[thread] == nil else {
            throw StoreError(.busy, "the store was closed inside a read or write of it on the same thread")
        }
        isClosed = true
        condition.broadcast()
        while writingThread != nil || !readsByThread.isEmpty { condition.wait() }
        guard !isReleased else { return }
        isReleased = true
        try release()
    }

    private static let closed = StoreError(.closed, "the store is closed")

    /// A number that no two threads have at one time; a thread is a number or a pointer, as the system likes it.
    private static var currentThread: UInt {
        let thread = pthread_self()
        return withUnsafeBytes(of: thread) { $0.loadUnaligned(as: UInt.self) }
    }
}
