internal import TidelineStore

/// The connections of a store: one writer and one reader per read in flight.
///
/// A connection is opened when it is first needed, and again after it was lost, such as by a restart of the server.
///
/// `@unchecked Sendable`: a connection is used by one thread at a time, which the lock ensures.
final class ConnectionPool: @unchecked Sendable {
    private let lock: ReadWriteLock
    private let open: @Sendable () throws(StoreError) -> Connection
    /// Accessed by the thread that writes.
    private var writer: Connection?

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

    func endWriting() { lock.endWriting() }

    /// Begins on a connection. One that was lost while it was idle is replaced: nothing was done on it yet.
    private func beginning<T>(
        on connection: Connection?, _ begin: (Connection) throws(StoreError) -> T
    ) throws(StoreError) -> (Connection, T) {
        if let connection {
            do throws(StoreError) {
                return (connection, try begin(connection))
            } catch {
                guard connection.isLost else { throw error }
                connection.close()
            }
        }
        let new = try open()
        return (new, try begin(new))
    }

    /// Rejects new work, waits for reads and writes in flight, and closes all connections.
    func close() throws {
        try lock.close {
            for reader in lock.removeIdle() { unsafeDowncast(reader, to: Connection.self).close() }
            writer?.close()
        }
    }
}
