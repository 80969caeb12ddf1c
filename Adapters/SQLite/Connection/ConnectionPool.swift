internal import TidelineStore

/// The connections of a store: one writer and, for a file, one reader per read in flight.
///
/// An in-memory database has one connection for everything, used by one thread at a time: a second connection would see
/// uncommitted rows, or no rows at all.
///
/// `@unchecked Sendable`: a connection is used by one thread at a time, which the lock ensures.
final class ConnectionPool: @unchecked Sendable {
    /// The lock of the store, with the idle connections for reading.
    private let lock: ReadWriteLock
    /// Opens another connection for reading; `nil` if readers use the writer's connection.
    private let open: (@Sendable () throws(StoreError) -> Connection)?
    /// The connection for writing; `nil` for a read-only store.
    private let writer: Connection?
    /// The connection that observes the commits of others in a store without a writer. Accessed by the thread that
    /// writes.
    private var observer: Connection?
    /// The number of connections that have observed the commits, because each counts from the start.
    private var observerCount: UInt64 = 0
    /// The path of the file, for error messages.
    private let path: String?

    /// A connection for reading.
    struct Lease {
        let connection: Connection
        /// Whether the thread already reads on this connection, within the snapshot of the enclosing read.
        let isNested: Bool
    }

    /// - Parameter readers: Connections for reading that are already open.
    init(
        writer: Connection?, readers: [Connection], maximumReaders: Int,
        open: (@Sendable () throws(StoreError) -> Connection)?
    ) {
        self.writer = writer
        path = (writer ?? readers.first)?.path
        self.open = open
        var policy = ReadWriteLock.Policy()
        policy.admitsOneThread = open == nil
        policy.maximumReaders = max(1, maximumReaders)
        policy.maximumIdle = open == nil ? 0 : policy.maximumReaders
        lock = ReadWriteLock(policy, idle: readers)
    }

    /// Waits until no other thread writes, and returns the writer's connection.
    func takeWriter() throws(StoreError) -> Connection {
        try lock.beginWriting()
        guard let writer else {
            lock.endWriting()
            throw StoreError(
                .readOnly, "the store was opened for reading only; open it for writing instead", path: path)
        }
        return writer
    }

    func releaseWriter() { lock.endWriting() }

    /// Waits until no other thread writes, and returns a number that changes with the commits of others.
    ///
    /// The same connection counts them each time: the writer's, if there is one.
    func externalCommitNumber() throws(StoreError) -> UInt64 {
        try lock.beginWriting()
        defer { lock.endWriting() }
        if let writer { return try writer.externalCommitNumber() }
        if observer?.isOutdated != false {
            observer = nil
            observer = try openConnection()
            observerCount += 1
        }
        // Without a writer, there are connections for reading.
        return observerCount << 32 | (try observer?.externalCommitNumber() ?? 0)
    }

    /// Waits until a connection is available, and returns it.
    func takeReader() throws(StoreError) -> Lease {
        let admission = try lock.beginReading()
        if let idle = admission.idle {
            let connection = unsafeDowncast(idle, to: Connection.self)
            if !connection.isOutdated { return Lease(connection: connection, isNested: false) }
            connection.close()
        }
        do throws(StoreError) {
            if let connection = try openConnection() { return Lease(connection: connection, isNested: false) }
        } catch {
            lock.endReading()
            throw error
        }
        guard let writer else { preconditionFailure("a store without files has a writer") }
        return Lease(connection: writer, isNested: admission.isNested)
    }

    /// Opens a connection that the pool does not keep; returns `nil` if readers use the writer's connection.
    func openConnection() throws(StoreError) -> Connection? { try open?() }

    func release(_ lease: Lease) {
        guard open != nil else { return lock.endReading() }
        lock.endReading(keeping: lease.connection) { lease.connection.close() }
    }

    /// Rejects new work, waits for reads and writes in flight, and closes all connections.
    func close() throws {
        try lock.close {
            for reader in lock.removeIdle() { unsafeDowncast(reader, to: Connection.self).close() }
            writer?.close()
            observer?.close()
        }
    }
}
