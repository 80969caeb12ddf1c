internal import Foundation
internal import TidelineStore

/// Admits concurrent reads together with one write, and no access after the store was closed.
///
/// `@unchecked Sendable`: every mutable property is only used while `condition` is locked.
final class PlainGate: @unchecked Sendable {
    private let condition = NSCondition()
    private var reads: [ObjectIdentifier: Int] = [:]
    private var writer: ObjectIdentifier?
    private var isClosed = false
    private let flaw: Flaw?
    /// The number of bodies that threw, in a flawed store.
    private var failures = 0

    init(flaw: Flaw?) { self.flaw = flaw }

    func beginRead() throws {
        condition.lock()
        defer { condition.unlock() }
        if flaw == .readerBlocksWriter { while writer != nil, writer != thread { condition.wait() } }
        guard !isClosed || flaw == .readAfterClose else { throw Self.closed }
        if flaw == .nestedReadRefused, reads[thread] != nil { throw Self.busy }
        if flaw == .readersLimited, reads.count >= 126 { throw Self.busy }
        reads[thread, default: 0] += 1
    }

    func endRead() {
        condition.lock()
        defer { condition.unlock() }
        reads[thread] = reads[thread].flatMap { $0 > 1 ? $0 - 1 : nil }
        condition.broadcast()
    }

    func beginWrite() throws {
        condition.lock()
        defer { condition.unlock() }
        if flaw == .nestedWriteJoins, writer == thread { return }
        guard flaw == .nestedWriteWaits || flaw == .lockHeldForever || (writer != thread && reads[thread] == nil) else {
            throw Self.busy
        }
        if flaw == .busyInsteadOfWaiting, writer != nil { throw Self.busy }
        if flaw == .busyAfterManyFailures, failures > 300 { throw Self.busy }
        while writer != nil && flaw != .writersAtOnce || mustWaitForReads { try wait(unless: .waitingWriterGivesUp) }
        guard !isClosed else { throw Self.closed }
        writer = thread
    }

    /// Whether this thread writes.
    var isWriting: Bool { condition.withLock { writer == thread } }

    /// Records that a body threw.
    func noteFailure() { condition.withLock { failures += 1 } }

    /// Waits for the next change, with the given flaw for three seconds at most.
    private func wait(unless impatient: Flaw) throws {
        guard flaw == impatient else { return condition.wait() }
        guard condition.wait(until: Date(timeIntervalSinceNow: 3)) else { throw Self.busy }
    }

    private var mustWaitForReads: Bool {
        !reads.isEmpty && (flaw == .readerBlocksWriter || flaw == .nestedWriteWaits)
    }

    func endWrite() {
        condition.lock()
        defer { condition.unlock() }
        writer = nil
        condition.broadcast()
    }

    /// Refuses further access, waits for accesses in flight, and calls `release` on the first call.
    func close(_ release: () throws -> Void) throws {
        condition.lock()
        defer { condition.unlock() }
        guard writer != thread, reads[thread] == nil else { throw Self.busy }
        if isClosed, flaw == .secondCloseFails { throw Self.closed }
        guard !isClosed else { return }
        isClosed = true
        while flaw != .closeDoesNotWait, writer != nil || !reads.isEmpty { try wait(unless: .closeGivesUp) }
        try release()
    }

    static let closed = StoreError(.closed, "the store is closed")
    private static let busy = StoreError(.busy, "the call was made inside a body of the same store on the same thread")

    private var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }
}
