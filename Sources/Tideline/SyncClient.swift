internal import Foundation
public import TidelineStore

/// The way into Tideline: a server's address, a local store, and a transport between them.
///
/// ```swift
/// let client = try SyncClient(url: "https://example.org", store: store, transport: transport)  // any LocalStore
/// try await client.define(TableSchema("TodoItem", columns: [.string("text"), .bool("complete")]))
/// let items = client.table("TodoItem")
/// try await items.insert(["text": "Buy milk", "complete": false])
/// try await client.context.push()
/// try await items.pull(queryID: "all")
/// ```
public final class SyncClient<Store: LocalStore>: Sendable {
    /// The queue, push and pull.
    public let context: SyncContext<Store>

    /// A client of the server at `url`, over `store`.
    ///
    /// The tables of the queue are made in the store, which blocks for the moment that takes. The first answer
    /// that is stored records the server's address and ``SyncOptions/userID``; a client of another server or user is then
    /// refused with ``SyncError/Code/otherServer`` or ``SyncError/Code/otherUser``. Two addresses are the same server if
    /// scheme, host, port (with the scheme's own as the default) and path are the same; a slash at the end, and the case
    /// of scheme and host, do not matter.
    /// - Parameters:
    ///   - url: The address of the server, `http` or `https`, to which `/tables/…` is added.
    ///   - store: The local store. The caller closes it, after the last call to this client has ended.
    ///   - transport: What carries the requests.
    ///   - options: See ``SyncOptions``.
    /// - Throws: ``SyncError`` with code invalidArgument for an address that is none; `StoreError`, with code
    ///   schemaMismatch for a server's store.
    public init(url: String, store: Store, transport: any Transport, options: SyncOptions = SyncOptions()) throws {
        let connection = ServerConnection(base: try ServerAddress(url), transport: transport, options: options)
        context = try SyncContext(store: store, connection: connection)
    }

    /// The local store; reading it directly and synchronously is welcome.
    public var store: Store { context.store }

    /// Creates local tables, or adds columns and indexes to those that exist; definitions only grow. See
    /// ``SyncContext/define(_:)``.
    ///
    /// A synchronized table needs textual ids and the columns `updatedAt` and `version`.
    public func define(_ tables: TableSchema...) async throws { try await context.define(tables) }

    /// Removes columns from a local table, with the indexes over them. See ``SyncContext/drop(columns:from:)``.
    public func drop(columns: [String], from table: String) async throws {
        try await context.drop(columns: columns, from: table)
    }

    /// Makes the store this client's, whichever server and user it was of. See
    /// ``SyncContext/switchServer(keepingPending:)``.
    @discardableResult
    public func switchServer(keepingPending: Bool) async throws -> ForcePurgeResult {
        try await context.switchServer(keepingPending: keepingPending)
    }

    /// Removes rows, pending operations, errors and tokens. See ``SyncContext/wipe()``.
    @discardableResult
    public func wipe() async throws -> ForcePurgeResult { try await context.wipe() }

    /// A local table that is synchronised with the server's table of the same name.
    public func table(_ name: String) -> SyncTable<Store> { SyncTable(name: name, context: context) }

    /// The server's table, used directly, past store and queue.
    public func remoteTable(_ name: String) -> RemoteTable<Store> { RemoteTable(name: name, context: context) }
}
