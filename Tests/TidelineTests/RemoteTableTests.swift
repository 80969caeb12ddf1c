import Testing
import TidelineServer
import TidelineSimulation
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Direct use of the server's table, without store and queue.
@Suite("Remote table", .releasesClients, .bothDialects)
struct RemoteTableTests {
    private func remote(
        _ stores: StoreKind, change: (inout TableServiceOptions) -> Void = { _ in }
    ) async throws -> (World, Client, RemoteTable) {
        let world = try World(stores, change: change)
        let client = try await world.makeClient()
        return (world, client, client.client.remoteTable("TodoItem"))
    }

    @Test("RemoteTable reads, inserts, updates, deletes and undeletes past the store", arguments: StoreKind.perEngine)
    func operations(_ stores: StoreKind) async throws {
        let (world, client, remote) = try await remote(stores)
        let inserted = try await remote.insert(["id": "a", "text": "one", "priority": 3])
        #expect(inserted["text"] == "one" && inserted["version"] != nil && inserted["updatedAt"] != nil)
        #expect(try await remote.lookup(id: "a") == inserted)
        let updated = try await remote.update(["id": "a", "text": "two", "version": inserted["version"] ?? .null])
        #expect(updated["text"] == "two" && updated["priority"] == 3)
        try await remote.delete(id: "a", version: updated["version"]?.string)
        #expect(try await remote.lookup(id: "a") == nil)
        #expect(try await remote.lookup(id: "a", includeDeleted: true)?["text"] == "two")
        #expect(try await remote.read().rows.isEmpty)
        #expect(try await remote.read(includeDeleted: true).rows.count == 1)
        #expect(try await remote.undelete(id: "a")["text"] == "two")
        #expect(try world.serverTexts() == ["two"])
        #expect(try client.store.versions().isEmpty)
        #expect(try await client.queue().isEmpty)
    }

    @Test("RemoteTable makes a lowercase UUID for a row without an ID", arguments: StoreKind.perEngine)
    func makesID(_ stores: StoreKind) async throws {
        let (_, _, remote) = try await remote(stores)
        let row = try await remote.insert(["text": "one"])
        #expect(row.idText.count == 36 && row.idText == row.idText.lowercased())
    }

    @Test("RemoteTable reads by filter, order, skip, top, select and count", arguments: StoreKind.perEngine)
    func queries(_ stores: StoreKind) async throws {
        let (world, _, remote) = try await remote(stores)
        try world.plant((0..<9).map { World.row("id\($0)", at: 0, text: "\(9 - $0)") })
        let query = TableQuery("TodoItem").filter(.column("text") != "5").order(by: "text").skip(1).limit(3)
            .select("text").includingTotalCount()
        let result = try await remote.read(query)
        #expect(result.rows.map { $0["text"] } == ["2", "3", "4"] && result.totalCount == 8)
        #expect(result.rows[0]["updatedAt"] == nil)
    }

    @Test("RemoteTable never sends system columns, and the version only as If-Match", arguments: StoreKind.perEngine)
    func systemColumns(_ stores: StoreKind) async throws {
        let transport = ScriptedTransport { _ in .answer(200, #"{"id":"a"}"#) }
        let client = try await transport.makeClient(stores, tables: [World.schema])
        let row: Row = [
            "id": "a", "text": "x", "version": "v\"1", "createdAt": .timestamp(.min), "updatedAt": .timestamp(.min),
            "deleted": true,
        ]
        _ = try await client.remoteTable("TodoItem").insert(row)
        _ = try await client.remoteTable("TodoItem").update(row)
        #expect(transport.requests.map(\.body) == [#"{"id":"a","text":"x"}"#, #"{"text":"x"}"#])
        #expect(transport.requests.map { $0.headers[.ifMatch] } == [nil, #""v\"1""#])
    }

    static let refusals: [@Sendable (RemoteTable) async throws -> Void] = [
        { _ = try await $0.insert(["id": "a", "nothing": 1]) },
        { _ = try await $0.insert(["id": "a", "text": 1]) },
        { _ = try await $0.insert(["id": "a", "__x": 1]) },
        { _ = try await $0.insert(["id": "a/b", "text": "x"]) },
        { _ = try await $0.insert(["id": .string(String(repeating: "i", count: 256)), "text": "x"]) },
        { _ = try await $0.update(["text": "x"]) },
        { _ = try await $0.update(["id": "a"]) },
        { _ = try await $0.update(["id": "a", "text": "x", "version": "\r\nX: y"]) },
        { _ = try await $0.lookup(id: ".") },
        { _ = try await $0.lookup(id: "") },
        { try await $0.delete(id: "..") },
        { try await $0.delete(id: "a", version: "\n") },
        { _ = try await $0.undelete(id: "..") },
        { _ = try await $0.read(TableQuery("Other")) },
        { _ = try await $0.read(TableQuery("TodoItem").skip(-1)) },
        { _ = try await $0.read(TableQuery("TodoItem").filter(.column("a b") == 1)) },
        { _ = try await $0.read(TableQuery("TodoItem").filter(!(.column("__version") == "1"))) },
        { _ = try await $0.read(TableQuery("TodoItem").order(by: "__updatedAt")) },
        { _ = try await $0.read(TableQuery("TodoItem").select("__deleted")) },
        { _ = try await $0.read(parameters: [("$top", "5")]) },
        { _ = try await $0.read(parameters: [("__x", "5")]) },
        { _ = try await $0.insert(["id": 5, "text": "x"]) },
        { _ = try await $0.update(["id": 5, "text": "x"]) },
    ]

    @Test(
        "RemoteTable refuses invalid rows, IDs and queries before anything is sent, naming the invalid part",
        arguments: StoreKind.perEngine)
    func refuses(_ stores: StoreKind) async throws {
        let (_, client, remote) = try await remote(stores)
        for (number, call) in Self.refusals.enumerated() {
            #expect(await syncErrorCode { try await call(remote) } == .invalidArgument, "\(number)")
        }
        for name in ["", " ", "\n"] {
            let blank = client.client.remoteTable(name)
            #expect(await syncErrorCode { _ = try await blank.read() } == .invalidArgument)
            #expect(await syncErrorCode { _ = try await blank.insert(["text": "x"]) } == .invalidArgument)
            #expect(await syncErrorCode { try await blank.delete(id: "a") } == .invalidArgument)
        }
        #expect(client.transport.requests.isEmpty)
    }

    @Test(
        "RemoteTable reports a failure with the server's message, or without a body with status and reason",
        arguments: StoreKind.perEngine,
        [
            (400, SyncError.Code.rejected, "HTTP 400 Bad Request"),
            (403, .rejected, "HTTP 403 Forbidden"), (404, .rejected, "HTTP 404 Not Found"),
            (500, .serverFailed, "HTTP 500 Internal Server Error"),
            (401, .authentication, "HTTP 401 Unauthorized"), (503, .network, "HTTP 503 Service Unavailable"),
            (499, .rejected, "HTTP 499"), (302, .rejected, "HTTP 302 Found"),
        ])
    func failures(_ stores: StoreKind, _ expected: (status: Int, code: SyncError.Code, says: String)) async throws {
        let (_, client, remote) = try await remote(stores)
        for message in ["", "that's why"] {
            let body = message.isEmpty ? "" : #"{"error":"that's why"}"#
            client.transport.inspect { _, _ in .answer(.answer(expected.status, body)) }
            let read = await expectSyncError(expected.code, status: expected.status) { _ = try await remote.read() }
            let update = await expectSyncError(expected.code, id: "a", status: expected.status) {
                _ = try await remote.update(["id": "a", "text": "x"])
            }
            for error in [read, update] {
                let says = message.isEmpty ? ": \(expected.says)" : message
                #expect(error?.message.hasSuffix(says) == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test(
        "RemoteTable reports a write that conflicts with another row as a conflict with the server's row",
        arguments: StoreKind.perEngine, [[], ServerQuirks.original, [.original, .hardDelete]])
    func conflicts(_ stores: StoreKind, quirks: ServerQuirks) async throws {
        let (_, _, remote) = try await remote(stores) { $0.reproduce(quirks) }
        let first = try await remote.insert(["id": "a", "text": "one"])
        let second = try await remote.update(["id": "a", "text": "two"])
        let stale = try #require(first.version)
        for body in [
            { _ = try await remote.insert(["id": "a", "text": "three"]) },
            { _ = try await remote.update(["id": "a", "text": "three", "version": .string(stale)]) },
            { try await remote.delete(id: "a", version: stale) },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: SyncError.self) { try await body() }
            #expect(error?.code == .conflict && [409, 412].contains(error?.status))
            #expect(error?.serverItem?["text"] == "two" && error?.serverItem?.version == second.version)
        }
    }

    @Test("RemoteTable reports a conflict even if the server's row cannot be read", arguments: StoreKind.perEngine)
    func conflictWithoutRow(_ stores: StoreKind) async throws {
        let (_, client, remote) = try await remote(stores)
        client.transport.inspect { request, _ in .answer(.answer(request.method == .get ? 500 : 409, "{}")) }
        let error = await #expect(throws: SyncError.self) { _ = try await remote.insert(["id": "a", "text": "x"]) }
        #expect(error?.code == .conflict && error?.status == 409 && error?.serverItem == nil)
    }

    @Test("RemoteTable's lookup returns nil for 404 and 410, and throws other failures", arguments: StoreKind.perEngine)
    func absent(_ stores: StoreKind) async throws {
        let (_, client, remote) = try await remote(stores)
        for status in [404, 410] {
            client.transport.inspect { _, _ in .answer(.answer(status, "gone")) }
            #expect(try await remote.lookup(id: "a") == nil)
        }
        client.transport.inspect { _, _ in .answer(.answer(403)) }
        #expect(await syncErrorCode { _ = try await remote.lookup(id: "a") } == .rejected)
    }

    @Test(
        "RemoteTable reports answers that are not a row as errors",
        arguments: StoreKind.perEngine, ["", "[]", "null", #"{"text":"x"}"#, #"{"id":1}"#, #"{"id":"b"}"#])
    func badRows(_ stores: StoreKind, body: String) async throws {
        let (_, client, remote) = try await remote(stores)
        client.transport.inspect { _, _ in .answer(.answer(200, body)) }
        #expect(await syncErrorCode { _ = try await remote.insert(["id": "a", "text": "x"]) } == .invalidAnswer)
        #expect(await syncErrorCode { _ = try await remote.lookup(id: "a") } == .invalidAnswer)
        #expect(await syncErrorCode { try await remote.delete(id: "a") } == .invalidAnswer)
    }
}
