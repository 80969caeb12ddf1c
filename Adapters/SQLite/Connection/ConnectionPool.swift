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
    private var idleReaders: [Connection] = []
    private var readersInUse = 0
    /// How many reads each thread is in.
    private var readsByThread: [UInt: Int] = [:]
    private var writingThread: UInt?
    private var isClosed = false

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
        idleReaders = readers
        self.open = open
    }

    // MARK: Writing

    /// Waits until no other thread writes, and lends the writer.
    func takeWriter() throws(StoreError) -> Connection {
        condition.lock()
        defer { condition.unlock() }
        let thread = tideline_current_thread()
        guard writingThread != thread, readsByThread[thread] == nil || isClosed else {
            throw StoreError(.busy, "a write began inside a read or write of the same store on the same thread")
        }
        while !isClosed, writingThread != nil || (isShared && !readsByThread.isEmpty) { condition.wait() }
        guard !isClosed else { throw Self.closed }
        guard let writer else {
            throw StoreError(
                .readOnly, "the store was opened for reading only; open it without that to write", path: path)
        }
        writingThread = thread
        return writer
    }

    func releaseWriter() {
        condition.lock()
        writingThread = nil
        condition.broadcast()
        condition.unlock()
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

    func release(_ lease: Lease?) {
        condition.lock()
        let thread = tideline_current_thread()
        let reads = (readsByThread[thread] ?? 1) - 1
        readsByThread[thread] = reads == 0 ? nil : reads
        readersInUse -= 1
        if !isShared, let lease, idleReaders.count < maximumReaders { idleReaders.append(lease.connection) }
        condition.broadcast()
        condition.unlock()
    }

    /// Counts a read; nil when a connection is still to be opened for it.
    private func reserveReader(_ thread: UInt) throws(StoreError) -> Lease? {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { throw Self.closed }
        guard !isShared || writingThread != thread else {
            throw StoreError(.busy, "a read began inside a write of the same store in memory on the same thread")
        }
        // A thread that already reads or writes does not wait: it would hold what others wait for.
        let isInside = readsByThread[thread] != nil || writingThread == thread
        while !isInside, !isClosed, mustWait { condition.wait() }
        guard !isClosed else { throw Self.closed }
        readsByThread[thread, default: 0] += 1
        readersInUse += 1
        if isShared, let writer { return Lease(connection: writer, isNested: isInside) }
        return idleReaders.popLast().map { Lease(connection: $0, isNested: false) }
    }

    private var mustWait: Bool {
        isShared ? writingThread != nil || !readsByThread.isEmpty : readersInUse >= maximumReaders
    }

    // MARK: Closing

    /// Refuses further work, waits for that in flight, and closes all connections.
    func close() throws(StoreError) {
        condition.lock()
        defer { condition.unlock() }
        let thread = tideline_current_thread()
        guard writingThread != thread, readsByThread[thread] == nil else {
            throw StoreError(.busy, "the store was closed inside a read or write of it on the same thread")
        }
        isClosed = true
        condition.broadcast()
        while writingThread != nil || !readsByThread.isEmpty { condition.wait() }
        idleReaders.removeAll()
        writer?.close()
    }

    private static let closed = StoreError(.closed, "the store is closed")
}
