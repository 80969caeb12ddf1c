import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// The counts reported by a pull, and its page sizes.
@Suite("Counts and page sizes of a pull", .releasesClients, .bothDialects)
struct PullCountTests {
    /// Returns the request with the timestamps in its filter truncated to milliseconds, as the original server does.
    private static func cut(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.path = request.path?.replacing(/(%3A\d\d\.\d{3})\d+Z/) { "\($0.output.1)Z" }
        request.path = request.path?.replacing(/(:\d\d\.\d{3})\d+Z/) { "\($0.output.1)Z" }
        return request
    }

    @Test(
        "F7 a first pull stores and counts each row once, also if the server truncates timestamps to milliseconds",
        arguments: StoreKind.perEngine, allPairs([1, 3, 4, 7, 20, 1000], [true, false]))
    func once(_ stores: StoreKind, _ setting: (Int, Bool)) async throws {
        let (pageSize, cuts) = setting
        for ticks in [
            (0..<20).map { $0 * 4000 }, (0..<20).map { $0 }, (0..<20).map { $0 / 5 * 10_000 },
            (0..<20).map { $0 * 10_000 }, (0..<20).map { _ in 3 },
        ] as [[Int64]] {
            let (world, client) = try await World.withClient(stores)
            client.transport.inspect { request, _ in cuts ? .instead(Self.cut(request)) { $0 } : nil }
            try world.plant(World.rows(at: ticks))
            let settings = PullSettings(pageSize: pageSize)
            let result = try await client.items.pull(queryID: "q", settings: settings)
            #expect(result.rowsStored == 20 && result.rowsPulled == 20)
            let again = try await client.items.pull(queryID: "q", settings: settings)
            #expect(again.rowsStored == 0 && again.rowsPulled <= 20)
            #expect(try client.store.versions() == world.serverVersions())
        }
    }

    @Test("F3 an answer that is too long is cut to the caller's limit", arguments: StoreKind.perEngine, [1, 2, 1000])
    func longAnswer(_ stores: StoreKind, pageSize: Int) async throws {
        let (world, client) = try await World.withClient(stores)
        client.transport.inspect { request, _ in .instead(request.without("$top")) { $0 } }
        try world.plant((0..<10).map { World.row("id\($0)", at: 0, deleted: $0 == 2) })
        let settings = PullSettings(pageSize: pageSize)
        #expect(try await client.items.pull(TableQuery("TodoItem").limit(5), settings: settings).rowsPulled == 5)
        #expect(try client.texts() == ["id0", "id1", "id3", "id4"])
        try await client.items.pull(queryID: "q", settings: settings)
        #expect(try client.texts().count == 9)
    }

    @Test("F10 a count of rows that no server can have is no failure", .zumoOnly, arguments: StoreKind.perEngine)
    func endlessCount(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        client.transport.inspect { _, _ in
            .change {
                $0.editing { text in
                    let count = "\"count\":\(Int64.max)"
                    return text.hasPrefix("[")
                        ? #"{"results":\#(text),\#(count)}"# : text.replacing(/"count":\d+/, with: count)
                }
            }
        }
        try world.plant(World.rows(at: (0..<12).map { $0 * 10_000 }))
        let (steps, progress) = AsyncStream.makeStream(of: PullProgress.self)
        try await client.client.pull(
            ["a", "b"].map {
                SyncSubscription(TableQuery("TodoItem").filter(.column("text") != .value($0)), queryID: $0)
            },
            settings: PullSettings(pageSize: 5), progress: progress)
        #expect(try client.store.versions().count == 12)
        #expect(await steps.contains { $0.total ?? 0 > 1 << 40 })
    }

    // MARK: F11

    @Test(
        "F11 after 400 to a large $top the client uses smaller ones, and remembers the limit for the table",
        arguments: StoreKind.perEngine,
        [(999, [1000, 500]), (500, [1000, 500]), (499, [1000, 500, 100]), (50, [1000, 500, 100, 50])])
    func smallerPages(_ stores: StoreKind, _ setting: (Int, [Int])) async throws {
        let (limit, tried) = setting
        let (world, client) = try await World.withClient(stores)
        client.transport.inspect { request, _ in
            request.top > limit ? .answer(.answer(400, #"{"error":"too many rows"}"#)) : nil
        }
        try world.plant(World.rows(at: (0..<120).map { $0 * 10_000 }))
        try await client.items.pull(queryID: "q")
        #expect(try client.store.versions().count == 120)
        func sizes() -> [Int] { client.transport.sent.map(\.request.top) }
        #expect(Array(sizes().prefix(tried.count)) == tried)
        #expect(sizes().dropFirst(tried.count).allSatisfy { $0 == tried.last })
        client.transport.clear()
        try await client.items.pull()
        #expect(sizes().allSatisfy { $0 == tried.last })
    }

    @Test("F11 400 for another reason is the error that the server returned for the requested page")
    func otherRefusal() async throws {
        let (world, client) = try await World.withClient(.simplest)
        try world.plant(World.rows(at: (0..<3).map { $0 * 10_000 }))
        client.transport.inspect { request, _ in .answer(.answer(400, #"{"error":"no \#(request.top)"}"#)) }
        await expectSyncError(.rejected, status: 400, says: "no 1000") { try await client.items.pull(queryID: "q") }
        #expect(client.transport.requests.count == 4)
        // No limit is remembered, and a page size that succeeded is not reduced.
        client.transport.inspect(nil)
        client.transport.clear()
        try await client.items.pull(queryID: "q")
        #expect(client.transport.requests[0].contains("top=1000"))
        client.transport.clear()
        client.transport.inspect { _, _ in .answer(.answer(400)) }
        _ = await syncErrorCode { try await client.items.pull(queryID: "q") }
        #expect(client.transport.requests.count == 1)
    }
}
