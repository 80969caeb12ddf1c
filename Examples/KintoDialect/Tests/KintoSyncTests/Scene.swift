import Foundation
import KintoSync
import Testing
import Tideline
import TidelineMemory
import TidelineStore
import TidelineURLSession

/// A bucket of a Kinto server with one collection, and the devices that synchronize with it.
struct Scene: Sendable {
    static let schema = TableSchema(
        "Todo",
        columns: [
            .string("text"), .int("count"), .double("weight"), .bool("done"), .timestamp("due"), .json("tags"),
            .int("edition"),
        ], idMatching: .exact)
    static let all = TableQuery("Todo")

    let server: KintoServer
    let bucket = "b\(UInt64.random(in: 0 ... .max))"
    var collection: String { "buckets/\(bucket)/collections/Todo" }

    init(_ backend: Backend) async throws {
        server = try KintoServer.shared(backend)
        try await server.send(.put, "buckets/\(bucket)")
        try await server.send(.put, collection)
    }

    /// Returns a device of a user.
    func device(
        _ user: String? = "ann:secret", isCut: Bool = false, policy: ConflictPolicy = .merge(others: .client)
    ) async throws -> Device {
        var options = SyncOptions()
        // The column `edition` is the field `version` of the records.
        var dialect = KintoDialect(bucket: bucket, fields: ["edition": "version"])
        dialect.pollInterval = .milliseconds(100)
        options.dialect = ServerDialect(dialect)
        options.conflictPolicy = policy
        options.logger.logLevel = .critical
        options.timeout = .seconds(isCut ? 2 : 60)
        options.retry.initialDelay = .milliseconds(10)
        options.retry.maximumDelay = .milliseconds(100)
        let client = try SyncClient(
            url: isCut ? server.addresses.cutting : server.addresses.direct, store: try MemoryStore(),
            transport: URLSessionTransport.shared, options: options)
        client.currentUser = user.map { SignedInUser(userID: "ann", authenticationToken: $0) }
        try await client.define([Self.schema])
        return Device(client: client)
    }

    /// Writes a record as another app would.
    func put(_ id: String, _ fields: String) async throws {
        try await server.send(.put, "\(collection)/records/\(id)", #"{"data":{\#(fields)}}"#)
    }

    func delete(_ id: String) async throws { try await server.send(.delete, "\(collection)/records/\(id)") }

    /// The texts of the records, by their ids.
    func texts() async throws -> [String: String] {
        struct List: Decodable {
            var data: [JSONFields]
        }
        let response = try await server.send(.get, "\(collection)/records")
        let rows = try JSONDecoder().decode(List.self, from: Data(response.body)).data.map(\.row)
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0["text"]?.string ?? "") })
    }
}

// article: use
func makeClient<Store: LocalStore>(url: String, store: Store) async throws -> SyncClient<Store> {
    var options = SyncOptions()
    options.dialect = ServerDialect(KintoDialect(bucket: "notes", fields: ["edition": "version"]))
    let client = try SyncClient(url: url, store: store, options: options)
    client.currentUser = SignedInUser(userID: "ann", authenticationToken: "ann:secret")
    try await client.define([
        TableSchema("Note", columns: [.string("text"), .int("edition")], idMatching: .exact)
    ])
    return client
}
// end

/// A client with a store of its own.
struct Device: Sendable {
    let client: SyncClient<MemoryStore>
    var todos: SyncTable { client.table("Todo") }

    @discardableResult
    func pull(_ pageSize: Int = 1_000, removesLeavers: Bool = false) async throws -> PullResult {
        var settings = PullSettings(pageSize: pageSize)
        settings.removesLeavers = removesLeavers ? .zero : nil
        return try await client.pull(Scene.all, queryID: "all", settings: settings)
    }

    func texts() async throws -> [String: String] {
        let rows = try await todos.rows().rows
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0["text"]?.string ?? "") })
    }

    /// Pushes, and returns the codes of the operations that failed.
    func pushErrors() async throws -> [OperationFailure.Code] {
        do {
            try await client.push()
        } catch let error as SyncError where [.completedWithErrors, .serverFailing].contains(error.code) {
        }
        return try await client.operationErrors().map(\.code)
    }

    /// Pushes and pulls until both have succeeded and nothing is left, whatever the network does.
    func settle(maxInFlight: Int = 8) async throws {
        // A server that was killed takes long to start on a busy machine, and a request that is refused takes no time.
        let end = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < end {
            do {
                try await client.push(settings: PushSettings(maxInFlight: maxInFlight))
                try await pull(100)
                if try await client.pendingOperationsCount == 0 { return }
            } catch is SyncError {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        Issue.record("not settled: \(try await client.operationErrors())")
    }
}
