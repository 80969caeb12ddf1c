import TidelineStore
import TidelineTestStores

@testable import Tideline

/// A ``NotesServer`` and its clients.
struct NotesWorld: Sendable {
    static let schema = TableSchema("Note", columns: [.string("text"), .int("likes"), .timestamp("due")])

    let stores: StoreKind
    let server = NotesServer()

    init(_ stores: StoreKind) { self.stores = stores }

    /// Makes a world with a client without rows.
    static func withClient(
        _ stores: StoreKind, _ dialect: some CustomDialect = NotesDialect(),
        configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> (NotesWorld, NotesClient) {
        let world = NotesWorld(stores)
        return (world, try await world.makeClient(dialect: dialect, configure: configure))
    }

    /// Makes a world with a client that has pulled the row `a`, or rows of the given identifiers with the same fields.
    static func withRow(
        _ stores: StoreKind, ids: [String] = ["a"], _ fields: Row = ["text": "one"],
        _ dialect: some CustomDialect = NotesDialect(), configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> (NotesWorld, NotesClient) {
        let (world, client) = try await withClient(stores, dialect, configure: configure)
        for id in ids { world.server.write(id, fields) }
        try await client.pull()
        return (world, client)
    }

    func makeClient(
        store: TestStore? = nil, dialect: some CustomDialect = NotesDialect(),
        configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> NotesClient {
        var options = SyncOptions()
        options.dialect = ServerDialect(dialect)
        options.environment.sleep = { _ in }
        options.logger.logLevel = .critical
        configure(&options)
        let store = try store ?? stores.makeStore()
        let client = try SyncClient(url: "http://notes.test/db", store: store, transport: server, options: options)
        try await client.define([Self.schema])
        return NotesClient(client: client, store: store)
    }
}

/// A client of a ``NotesWorld``.
struct NotesClient: Sendable {
    let client: SyncClient<TestStore>
    let store: TestStore

    var notes: SyncTable { client.table("Note") }

    @discardableResult
    func pull(_ settings: PullSettings = PullSettings()) async throws -> PullResult {
        try await client.pull(TableQuery("Note"), queryID: "all", settings: settings)
    }

    func row(_ id: String) throws -> Row? { try store.read { try $0.row(in: "Note", id: id) } }

    /// The texts of the local rows, by their identifiers.
    func texts() throws -> [String: String] {
        let rows = try store.read { try $0.rows(matching: TableQuery("Note")).rows }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0["text"]?.string ?? "") })
    }

    func queue() async throws -> [String] {
        try await client.context.pendingOperations().map { "\($0.kind) \($0.itemID)" }
    }

    /// Pushes, and returns the errors of single operations.
    func pushErrors() async throws -> [TableOperationError] {
        do {
            return try await client.push().operationErrors
        } catch let error as SyncError where error.code == .completedWithErrors {
            return error.operationErrors
        }
    }

    /// The cursor of the pulls, as JSON.
    func cursor() async throws -> String? { try await notes.pullToken(queryID: "all")?.cursor }
}
