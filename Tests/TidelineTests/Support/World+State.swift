import Testing
import Tideline
import TidelineStore
import TidelineTestStores

extension World {
    /// Returns the state of the world on one line: the local rows, the queue and the server's rows, each in order.
    ///
    /// `local [a=one] queue [update a] server [a=two, b deleted]`
    func state(_ client: Client) throws -> String { try state(client.store) }

    func state(_ store: TestStore) throws -> String {
        let kinds = ["insert", "update", "delete"]
        let rows = TableQuery("TodoItem").order(by: "id")
        let local = try store.read { try $0.rows(matching: rows).rows.map(Self.brief) }
        let operations = TableQuery(SystemTables().operations).order(by: "id")
        let queue = try store.read { reader in
            try reader.rows(matching: operations).rows.map { row in
                "\(kinds[Int(row["tableKind"]?.int ?? 0)]) \(row["itemId"]?.string ?? "?")"
            }
        }
        let server = try serverStore.read { try $0.rows(matching: rows).rows.map(Self.brief) }
        let lists = [("local", local), ("queue", queue), ("server", server)]
        return lists.map { "\($0) [\($1.joined(separator: ", "))]" }.joined(separator: " ")
    }

    private static func brief(_ row: Row) -> String {
        row["deleted"]?.bool == true ? "\(row.idText) deleted" : "\(row.idText)=\(row["text"]?.string ?? "null")"
    }

    /// Makes a world with a client without rows.
    static func withClient(
        _ stores: StoreKind, configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> (World, Client) {
        let world = try World(stores)
        return (world, try await world.makeClient(configure: configure))
    }

    /// Makes a world with a client that is in sync (``makeSyncedClient(store:configure:)``).
    static func withSyncedClient(
        _ stores: StoreKind, configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> (World, Client) {
        let world = try World(stores)
        return (world, try await world.makeSyncedClient(configure: configure))
    }

    /// Makes a client whose store and server contain the row `a` with the text `one` and the priority 1.
    func makeSyncedClient(
        store: TestStore? = nil, configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> Client {
        let client = try await makeClient(store: store, configure: configure)
        try await client.items.insert(["id": "a", "text": "one", "priority": 1])
        try await client.context.push()
        client.transport.clear()
        return client
    }

    /// Makes another client that has pulled all rows of the server.
    func makeOther() async throws -> Client {
        let other = try await makeClient()
        try await other.items.pull()
        return other
    }

    /// Updates a row of the server through another client, which it returns.
    @discardableResult
    func updateElsewhere(_ row: Row = ["id": "a", "text": "theirs"]) async throws -> Client {
        let other = try await makeOther()
        try await other.pushUpdate(row)
        return other
    }
}

extension Client {
    /// Updates a row, and pushes.
    func pushUpdate(_ row: Row) async throws {
        try await items.update(row)
        try await context.push()
    }

    /// Inserts a row, and pushes.
    func pushInsert(_ row: Row) async throws {
        try await items.insert(row)
        try await context.push()
    }

    /// Deletes a row, and pushes.
    func pushDelete(_ id: String) async throws {
        try await items.delete(id: id)
        try await context.push()
    }

    /// Pushes while all requests have a fault that ends the push.
    func pushLosing(_ fault: FaultyTransport<TestStore>.Fault = .loseAnswer) async {
        transport.inspect { _, _ in fault }
        #expect(await syncErrorCode { try await context.push() } == .network)
        transport.inspect(nil)
    }
}

extension Client {
    /// Runs `body` in a task that is canceled during the request of the given number. Returns the code of its error.
    func codeOfTask(
        canceledAt number: Int, _ body: @escaping @Sendable () async throws -> Void
    ) async -> SyncError.Code? {
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task { () -> SyncError.Code? in
            // The transport needs the task before its first request.
            for await _ in starts {}
            return await syncErrorCode(body)
        }
        transport.inspect { [transport] _, _ in
            if transport.requests.count == number { task.cancel() }
            return nil
        }
        start.finish()
        defer { transport.inspect(nil) }
        return await task.value
    }
}

extension SyncTable {
    /// Inserts the row `b`, or updates or deletes the row `a`. Returns the identifier.
    @discardableResult
    func edit(_ kind: OperationKind, _ columns: Row = ["text": "two"]) async throws -> String {
        let id = kind == .insert ? "b" : "a"
        let row = Row(id: .string(id)).merging(columns)
        switch kind {
        case .insert: try await insert(row)
        case .update: try await update(row)
        case .delete: try await delete(id: id)
        }
        return id
    }
}

extension Client {
    /// Pulls rows although the push before fails with errors of operations, which it must. Returns the error.
    @discardableResult
    func pullOthers(_ queryID: String? = nil, pageSize: Int = 1000) async throws -> SyncError {
        let settings = PullSettings(pageSize: pageSize, whenPushFails: .pullOthers)
        return try #require(
            await expectSyncError(.completedWithErrors) {
                try await items.pull(queryID: queryID, settings: settings)
            })
    }
}

/// Expects that `body` throws a ``SyncError`` with the given properties, and returns it.
@discardableResult
func expectSyncError(
    _ code: SyncError.Code, table: String? = nil, column: String? = nil, id: String? = nil, status: Int? = nil,
    says texts: String..., sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> SyncError? {
    let error = await #expect(throws: SyncError.self, sourceLocation: sourceLocation) { try await body() }
    let found = error.map(String.init(describing:)) ?? "nothing thrown"
    #expect(error?.code == code, "\(found)", sourceLocation: sourceLocation)
    for (expected, value) in [(table, error?.table), (column, error?.column), (id, error?.id)] {
        #expect(expected == nil || value == expected, "\(found)", sourceLocation: sourceLocation)
    }
    #expect(status == nil || error?.status == status, "\(found)", sourceLocation: sourceLocation)
    for text in texts { #expect(error?.message.contains(text) == true, "\(found)", sourceLocation: sourceLocation) }
    return error
}

/// Returns the code of the ``SyncError`` that `body` throws, or `nil` if it throws none.
func syncErrorCode(_ body: () async throws -> Void) async -> SyncError.Code? {
    do {
        try await body()
        return nil
    } catch let error as SyncError {
        return error.code
    } catch {
        return .init(rawValue: "no SyncError: \(error)")
    }
}

/// Returns the errors of single operations of a push, or an empty array if it succeeds.
func pushErrors(_ client: Client) async throws -> [TableOperationError] {
    do {
        try await client.context.push()
        return []
    } catch let error as SyncError where error.code == .completedWithErrors {
        return error.operationErrors
    }
}
