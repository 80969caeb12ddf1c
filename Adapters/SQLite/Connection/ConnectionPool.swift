internal import CSQLite
internal import Foundation
internal import TidelineStore

/// The connections of a store: one writer and, for a file, one reader per read in flight.
///
/// An in-memory database has one connection for everything, used by one thread at a time: a second connection would see
/// uncommitted rows, or no rows at all.
///
/// `@unchecked Sendable`: every mutable property is accessed only under the lock of `condition`, and a connection is
/// used by one thread at a time.
final class ConnectionPool: @unchecked Sendable {
    private let condition = NSCondition()
    /// Opens another connection for reading; `nil` if readers use the writer's connection.
    private let open: (@Sendable () throws(StoreError) -> Connection)?
    private let writer: Connection?
    /// The path of the file, for error messages.
    private let path: String?
    private var isShared: Bool { open == nil }
    private let maximumReaders: Int
    /// Unchecked: the lock already guarantees exclusive access.
    @exclusivity(unchecked) private var state = State()

    /// The mutable state. A struct, because each access to a property of a class instance is checked on its own.
    private struct State {
        var idleReaders: [Connection] = []
        var readersInUse = 0
        /// The number of reads that each thread is in, for threads that are in any.
        var reads: [(thread: UInt, count: Int)] = []
        var writingThread: UInt?
        /// The number of threads that wait for a change.
        var waiting = 0
        var isClosed = false

        func isReading(_ thread: UInt) -> Bool { reads.contains { $0.thread == thread } }

        mutating func enter(_ thread: UInt) {
            readersInUse += 1
            if let index = reads.firstIndex(where: { $0.thread == thread }) {
                reads[index].count += 1
            } else {
                reads.append((thread, 1))
            }
        }

        /// - Returns: Whether a thread is waiting.
        mutating func leave(_ thread: UInt, keeping connection: Connection?) -> Bool {
            readersInUse -= 1
            if let index = reads.firstIndex(where: { $0.thread == thread }) {
                reads[index].count -= 1
                if reads[index].count == 0 { reads.remove(at: index) }
            }
            if let connection { idleReaders.append(connection) }
            return waiting > 0
        }
    }

    /// A connection for reading.
    struct Lease {
        let connection: Connection
        /// Whether the thread already reads on this connection, within the snapshot of the enclosing read.
        let isNested: Bool
    }

    /// - Parameters:
    ///   - writer: The connection for writing; `nil` for a read-only store.
    ///   - readers: Connections for reading that are already open.
    ///   - open: Opens another connection for reading; `nil` if readers use the writer's connection.
    init(
        writer: Connection?, readers: [Connection], maximumReaders: Int,
        open: (@Sendable () throws(StoreError) -> Connection)?
    ) {
        self.writer = writer
        path = (writer ?? readers.first)?.path
        self.maximumReaders = max(1, maximumReaders)
        state.idleReaders = readers
        self.open = open
    }

    // MARK: Writing

    /// Waits until no other thread writes, and returns the writer's connection.
    func takeWriter() throws(StoreError) -> Connection {
        condition.lock()
        defer { condition.unlock() }
        let thread = tideline_current_thread()
        guard state.writingThread != thread, !state.isReading(thread) || state.isClosed else {
            throw StoreError(.busy, "a write began inside a read or write of the same store on the same thread")
        }
        while !state.isClosed, state.writingThread != nil || (isShared && !state.reads.isEmpty) { wait() }
        guard !state.isClosed else { throw Self.closed }
        guard let writer else {
            throw StoreError(
                .readOnly, "the store was opened for reading only; open it for writing instead", path: path)
        }
        state.writingThread = thread
        return writer
    }

    func releaseWriter() {
        condition.lock()
        state.writingThread = nil
        let isAwaited = state.waiting > 0
        condition.unlock()
        if isAwaited { condition.broadcast() }
    }

    // MARK: Reading

    /// Waits until a connection is available, and returns it.
    func takeReader() throws(StoreError) -> Lease {
        let thread = tideline_current_thread()
        if let lease = try reserveReader(thread) { return lease }
        do throws(StoreError) {
            guard let open else { throw Self.closed }
            return Lease(connection: try open(), isNested: false)
        } catch {
            release(nil)
            throw error
        }
    }

    /// Opens a connection that the pool does not keep; returns `nil` if readers use the writer's connection.
    func openConnection() throws(StoreError) -> Connection? { try open?() }

    func release(_ lease: Lease?) {
        let thread = tideline_current_thread()
        condition.lock()
        let keeps = !isShared && state.idleReaders.count < maximumReaders
        let isAwaited = state.leave(thread, keeping: keeps ? lease?.connection : nil)
        condition.unlock()
        if isAwaited { condition.broadcast() }
    }

    /// Registers a read; returns `nil` if a connection must be opened for it.
    private func reserveReader(_ thread: UInt) throws(StoreError) -> Lease? {
        condition.lock()
        defer { condition.unlock() }
        guard !state.isClosed else { throw Self.closed }
        guard !isShared || state.writingThread != thread else {
            throw StoreError(.busy, "a read began inside a write of the same store in memory on the same thread")
        }
        // A thread that already reads or writes does not wait, because it holds the resource that others wait for.
        let isInside = state.isReading(thread) || state.writingThread == thread
        while !isInside, !state.isClosed, mustWait { wait() }
        guard !state.isClosed else { throw Self.closed }
        state.enter(thread)
        if isShared, let writer { return Lease(connection: writer, isNested: isInside) }
        return state.idleReaders.popLast().map { Lease(connection: $0, isNested: false) }
    }

    private var mustWait: Bool {
        isShared
            ? state.writingThread != nil || !state.reads.isEmpty : state.readersInUse >= maximumReaders
    }

    /// Waits for a change of the state.
    private func wait() {
        state.waiting += 1
        condition.wait()
        state.waiting -= 1
    }

    // MARK: Closing

    /// Rejects new work, waits for reads and writes in flight, and closes all connections.
    func close() throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        let thread = tideline_current_thread()
        guard state.writingThread != thread, !state.isReading(thread) else {
            throw StoreError(.busy, "the store was closed inside a read or write of it on the same thread")
        }
        state.isClosed = true
        condition.broadcast()
        while state.writingThread != nil || !state.reads.isEmpty { wait() }
        state.idleReaders.removeAll()
        writer?.close()
    }

    private static let closed = StoreError(.closed, "the store is closed")
}
