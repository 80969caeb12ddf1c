public import TidelineStore

/// Options for opening a ``PostgreSQLStore``.
public struct PostgreSQLOptions: Sendable {
    /// The name of the database schema (namespace) that contains the store's tables. Several stores can share a
    /// database in different schemas. At most 63 bytes of UTF-8, without control characters.
    public var schema: String
    /// The durability of a commit: ``StoreCapabilities/Durability/full`` waits until the server has written the commit
    /// to its disk (`synchronous_commit = on`, or what the server has set beyond it, such as `remote_apply`),
    /// ``StoreCapabilities/Durability/normal`` does not wait (`synchronous_commit = off`).
    public var durability: StoreCapabilities.Durability
    /// Whether the store is opened for reading only; it must exist. Every write throws ``StoreError/Code/readOnly``.
    public var isReadOnly: Bool
    /// Whether a missing store is created; the database must exist.
    public var createsIfMissing: Bool
    /// How long to wait for a lock held by another connection before throwing ``StoreError/Code/busy``.
    public var busyTimeout: Duration
    /// How long to wait for a response of the server before its connection is closed and ``StoreError/Code/io`` is
    /// thrown: at the beginning of a transaction, where the wait is at least a second longer than ``busyTimeout``,
    /// twice as long at its end and for statements about single rows. Queries of any size, and changes of definitions,
    /// may take longer as long as the server responds on another connection; ``PostgreSQLReader/limitTime`` limits
    /// queries, which are given up this time, or a second, after their limit if the server does not end them. The time
    /// for a connection itself is `connect_timeout` of the connection string, by default 10 seconds.
    public var responseTimeout: Duration
    /// The maximum number of concurrent reads, each of which uses a connection. Further reads wait for them. Writes use
    /// one connection more.
    public var maximumReaders: Int

    /// Creates options, with durable commits, timeouts of 5 seconds, and up to 8 concurrent reads as defaults.
    public init(
        schema: String = "tideline", durability: StoreCapabilities.Durability = .full, isReadOnly: Bool = false,
        createsIfMissing: Bool = true, busyTimeout: Duration = .seconds(5),
        responseTimeout: Duration = .seconds(5), maximumReaders: Int = 8
    ) {
        self.schema = schema
        self.durability = durability
        self.isReadOnly = isReadOnly
        self.createsIfMissing = createsIfMissing
        self.busyTimeout = busyTimeout
        self.responseTimeout = responseTimeout
        self.maximumReaders = maximumReaders
    }
}
