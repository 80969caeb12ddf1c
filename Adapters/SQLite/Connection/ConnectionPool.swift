internal import CSQLite
internal import Foundation
internal import TidelineStore

/// The connections of a store: one writer and, for a file, a reader per read in flight.
///
/// A database in memory has one connection for everything, lent to one thread at a time: a second connection would
/// see uncommitted rows or none.
///
/// `@unchecked Sendable`: every property that changes is used under `condition`'s lock only, and a connection is handed
/// to one thread at a time.
final class ConnectionPool: @unchecked Sendable {
    private let condition = NSCondition()
    /// Opens a further connection to read on; nil where readers use the writer's.
    private let open: (@Sendable () throws(StoreError) -> Connection)?
    private let writer: Connection?
    /// The file, for messages.
    private let path: String?
    private var isShared: Bool { open == nil }
    private let maximumReaders: Int
    /// Unchecked: the lock excludes others already.
    @exclusivity(unchecked) private var state = State()

    /// What changes. Methods of a value, as each access to a property of an object is checked for itself.
    private struct State {
        var idleReaders: [Connection] = []
        var readersInUse = 0
        /// How many reads each thread is in, of those that are in any.
        var reads: [(thread: UInt, count: Int)] = []
        var writingThread: UInt?
        /// How many threads wait for a change.
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

        /// - Returns: Whether somebody waits for it.
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

    /// A connection to read on.
    struct Lease {
        let connection: Connection
        /// Whether the thread already reads on this connection, within the snapshot of the read around this one.
        let isNested: Bool
    }

    /// - Parameters:
    ///   - writer: The connection to write on, nil for a store that is read only.
    ///   - readers: Connections to read on that are already open.
    ///   - open: Opens a further one; nil when readers use the writer's.
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

    /// Waits until no other thread writes, and lends the writer.
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
                .readOnly, "the store was opened for reading only; open it without that to write", path: path)
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

    /// Waits until there is a connection, and lends it.
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

    /// Opens a connection that is not kept; nil when readers use the writer's.
    func openConnection() throws(StoreError) -> Connection? { try open?() }

    func release(_ lease: Lease?) {
        let thread = tideline_current_thread()
        condition.lock()
        let keeps = !isShared && state.idleReaders.count < maximumReaders
        let isAwaited = state.leave(thread, keeping: keeps ? lease?.connection : nil)
        condition.unlock()
        if isAwaited { condition.broadcast() }
    }

    /// Counts a read; nil when a connection is still to be opened for it.
    private func reserveReader(_ thread: UInt) throws(StoreError) -> Lease? {
        condition.lock()
        defer { condition.unlock() }
        guard !state.isClosed else { throw Self.closed }
        guard !isShared || state.writingThread != thread else {
            throw StoreError(.busy, "a read began inside a write of the same store in memory on the same thread")
        }
        // A thread that already reads or writes does not wait: it would hold what others wait for.
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

    /// Waits for a change.
    private func wait() {
        state.waiting += 1
        condition.wait()
        state.waiting -= 1
    }

    // MARK: Closing

    /// Refuses further work, waits for that in flight, and closes all connections.
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
