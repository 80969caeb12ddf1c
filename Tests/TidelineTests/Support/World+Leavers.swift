import Foundation
import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

extension World {
    /// The query of the tests of leavers, which are the rows that no longer match it on the server.
    static let mine = TableQuery("TodoItem").filter(.column("priority") == 1)

    /// Plants rows with a priority, and their identifiers as texts.
    func plant(_ ids: String..., at ticks: Int64, priority: Int64 = 1) throws {
        try plant(
            ids.map { id in
                var row = World.row(id, at: ticks)
                row["priority"] = .int(priority)
                row["complete"] = false
                return row
            })
    }

    /// Makes a client that has pulled the rows `a`, `b`, and `c`.
    func makePulled(configure: (inout SyncOptions) -> Void = { _ in }) async throws -> Client {
        try plant("a", "b", "c", at: 0)
        clock.advance(by: .seconds(60))
        let client = try await makeClient(configure: configure)
        try await client.pullMine()
        #expect(client.listRequests.isEmpty)
        client.transport.clear()
        return client
    }

    /// Makes a world with a client that has pulled the rows `a`, `b`, and `c`.
    static func withPulled(_ stores: StoreKind) async throws -> (World, Client) {
        let world = try World(stores)
        return (world, try await world.makePulled())
    }

    /// Removes rows of the server without a tombstone.
    func remove(_ ids: String...) throws {
        try serverStore.write { _ = try $0.delete(ids: ids.map { .string($0) }, from: "TodoItem") }
    }
}

extension Client {
    /// Pulls the rows of ``World/mine``, and removes the leavers unless `interval` is `nil`.
    @discardableResult
    func pullMine(every interval: Duration? = .zero, pageSize: Int = 1000) async throws -> PullResult {
        try await items.pull(
            World.mine, queryID: "mine", settings: PullSettings(pageSize: pageSize, removesLeavers: interval))
    }

    /// The requests for lists of identifiers.
    var listRequests: [String] {
        transport.requests.filter { $0.removingPercentEncoding?.contains("$select=id,version") == true }
    }
}

extension HTTPRequest {
    /// Whether the request is for a list of identifiers.
    var isList: Bool { target.contains("$select=id,version") }
    /// Whether the request is for a list of given identifiers.
    var isLookUp: Bool { isList && target.contains("id eq '") }
}

extension TransportResponse {
    /// An empty list in the form of the current dialect.
    static var emptyList: TransportResponse {
        .answer(200, BothDialects.current == .zumo2 ? #"{"results":[],"count":0}"# : #"{"items":[],"count":0}"#)
    }
}
