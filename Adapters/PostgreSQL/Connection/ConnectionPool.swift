internal import TidelineStore

/// The connections of a store: one writer and one reader per read in flight.
///
/// A connection is opened when it is first needed, and again after it was lost, such as by a restart of the server.
/// While the server does not respond, one thread at a time tries again and waits, and all others fail at once.
///
/// `@unchecked Sendable`: a connection is used by one thread at a time, which the lock ensures.
final class ConnectionPool: @unchecked Sendable {
    private let lock: ReadWriteLock
    private let open: @Sendable () throws(StoreError) -> Connection
    /// Accessed by the thread that writes.
    private var writer: Connection?
    private let outage = LockedValue<Outage?>(nil)

    /// The time since the server did not respond.
    private struct Outage {
        let error: StoreError
        /// When the next thread tries again.
        var next: ContinuousClock.Instant
    }

    /// The time between two attempts, and from which on a failed attempt delays others.
    private static let pause = Duration.seconds(1)
    /// The time after which the next thread tries again, whether or not the attempt has ended.
    private static let attemptTime = Duration.seconds(30)

    init(
        reader: Connection, maximumReaders: Int, open: @escaping @Sendable () throws(StoreError) -> Connection
    ) {
        self.open = open
        var policy = ReadWriteLock.Policy()
        policy.maximumReaders = max(1, maximumReaders)
        policy.maximumIdle = policy.maximumReaders
        lock = ReadWriteLock(policy, idle: [reader])
    }

    /// Waits until a connection is available, and returns it with the result of `begin`.
    func beginReading<T>(
        _ begin: (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> (Connection, T) {
        let idle = try lock.beginReading().idle.map { unsafeDowncast($0, to: Connection.self) }
        do throws(StoreError) {
            return try beginning(on: idle, begin)
        } catch {
            lock.endReading()
            throw error
        }
    }

    func endReading(_ connection: Connection) {
        connection.rollBack()
        noteTimeout(of: connection)
        guard connection.isIdle else {
            connection.close()
            return lock.endReading()
        }
        lock.endReading(keeping: connection) { connection.close() }
    }

    /// Waits until no other thread writes, and returns the writer's connection with the result of `begin`.
    func beginWriting<T>(_ begin: (Connection) throws(StoreError) -> T) throws(StoreError) -> (Connection, T) {
        try lock.beginWriting()
        do throws(StoreError) {
            let known = writer.flatMap { $0.isIdle ? $0 : nil }
            let (connection, result) = try beginning(on: known, begin)
            writer = connection
            return (connection, result)
        } catch {
            lock.endWriting()
            throw error
        }
    }

    func endWriting() {
        if let writer { noteTimeout(of: writer) }
        lock.endWriting()
    }

    private func beginning<T>(
        on connection: Connection?, _ begin: (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> (Connection, T) {
        try requireResponse()
        let start = ContinuousClock.now
        do throws(StoreError) {
            let result = try replacing(connection, begin)
            outage.withLock { $0 = nil }
            return result
        } catch {
            let isOutage = error.code == .io && .now - start >= Self.pause
            outage.withLock { $0 = isOutage ? Outage(error: error, next: .now + Self.pause) : nil }
            throw error
        }
    }

    /// Begins on a connection. One that was lost while it was idle is replaced: nothing was done on it yet. So is one
    /// to a server that no longer accepts writes: the connection string can name another one.
    private func replacing<T>(
        _ connection: Connection?, _ begin: (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> (Connection, T) {
        if let connection {
            do throws(StoreError) {
                return (connection, try begin(connection))
            } catch {
                guard !connection.hasTimedOut else {
                    // What has cut it may have cut the others that are idle.
                    closeIdle()
                    throw error
                }
                if error.hasState(SQLState.readOnlyTransaction) {
                    closeIdle()
                } else if !connection.isLost {
                    throw error
                }
                connection.close()
            }
        }
        let new = try open()
        do throws(StoreError) {
            return (new, try begin(new))
        } catch {
            new.close()
            throw error
        }
    }

    /// Closes the connections of the reads that have ended.
    private func closeIdle() {
        for reader in lock.removeIdle() { unsafeDowncast(reader, to: Connection.self).close() }
    }

    // MARK: Outages

    /// Throws the error of the last attempt if the server did not respond and it is too early for the next one.
    private func requireResponse() throws(StoreError) {
        let error = outage.withLock { outage -> StoreError? in
            guard let known = outage else { return nil }
            guard known.next <= .now else { return known.error }
            outage?.next = .now + Self.attemptTime
            return nil
        }
        if let error { throw error }
    }

    private func noteTimeout(of connection: Connection) {
        guard connection.hasTimedOut else { return }
        closeIdle()
        let error = StoreError(.io, "the server does not respond; try again", path: connection.place)
        outage.withLock { $0 = $0 ?? Outage(error: error, next: .now + Self.pause) }
    }

    /// Rejects new work, waits for reads and writes in flight, and closes all connections.
    func close() throws {
        try lock.close {
            closeIdle()
            writer?.close()
        }
    }
}
