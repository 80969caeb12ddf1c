import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rule F5: no row is lost or left stale, whatever the timestamps, pages and server limits.
@Suite("Pages of an incremental pull", .releasesClients, .bothDialects)
struct IncrementalPullPagingTests {
    struct Stamps: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var ticks: [Int64]
    }

    static let stamps: [Stamps] = [
        Stamps(testDescription: "all different", ticks: (0..<25).map { $0 * 10_000 }),
        Stamps(testDescription: "all the same", ticks: (0..<25).map { _ in 5 }),
        Stamps(testDescription: "100 ns apart in one millisecond", ticks: (0..<25).map { $0 }),
        Stamps(testDescription: "100 ns apart over the border of a millisecond", ticks: (0..<25).map { 9988 + $0 }),
        Stamps(testDescription: "falling with the id", ticks: (0..<25).map { 250_000 - $0 * 10_000 }),
        Stamps(
            testDescription: "crowds and single ones",
            ticks: (0..<10).map { _ in 0 } + [10_000, 20_000] + (0..<10).map { _ in 30_001 } + [30_002, 50_000]),
    ]

    /// The behavior of the server.
    enum Server: String, Sendable, CaseIterable {
        case plain
        /// Limits pages to 3 rows without announcing it.
        case caps
        /// As `caps`, without a total count.
        case capsWithoutCount
        /// Truncates the timestamps in answers to milliseconds.
        case milliseconds

        func fault(for request: HTTPRequest) -> FaultyTransport<TestStore>.Fault? {
            switch self {
            case .plain: nil
            case .caps: .instead(request.limited(to: 3)) { $0.without(.link) }
            case .capsWithoutCount:
                .instead(request.limited(to: 3).without("$inlinecount").without("$count")) { $0.without(.link) }
            case .milliseconds:
                .change { $0.editing { $0.replacing(/(\.\d{3})\d+Z/) { "\($0.output.1)Z" } } }
            }
        }
    }

    /// Every server with one store, which makes no difference, and the one with the most pages with every engine.
    static let settings: [(StoreKind, Stamps, Server)] =
        allPairs(stamps, Server.allCases).map { (StoreKind.simplest, $0.0, $0.1) }
        + allPairs(StoreKind.perEngine.filter { $0.engine != StoreKind.simplest.engine }, stamps).map {
            ($0.0, $0.1, .caps)
        }

    private func pulled(
        _ world: World, _ client: Client, pageSize: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        client.transport.clear()
        try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: pageSize))
        #expect(try client.store.versions() == world.serverVersions(), sourceLocation: sourceLocation)
        #expect(client.transport.requests.allSatisfy { !$0.contains("$skip") }, sourceLocation: sourceLocation)
        #expect(client.transport.requests.count < 250, sourceLocation: sourceLocation)
    }

    @Test(
        "F5 all rows are pulled with any timestamps and page size, from servers that limit pages or truncate stamps",
        arguments: settings)
    func complete(_ stores: StoreKind, _ stamps: Stamps, _ server: Server) async throws {
        for pageSize in [1, 2, 4, 25, 1000] {
            let (world, client) = try await World.withClient(stores)
            client.transport.inspect { request, _ in server.fault(for: request) }
            try world.plant(World.rows(at: stamps.ticks))
            try await pulled(world, client, pageSize: pageSize)
            // Within the look-back all rows are pulled again, so a page can contain nothing new.
            try await pulled(world, client, pageSize: pageSize)
            try world.plant([World.row("new", at: 300_000), World.row("r007", at: 300_000)])
            try await pulled(world, client, pageSize: pageSize)
            try world.plant([World.row("late", at: 10_000), World.row("r001", at: 400_000, deleted: true)])
            try await pulled(world, client, pageSize: pageSize)
        }
    }

    @Test(
        "F5 a server that limits its pages by another measure than rows hides nothing", arguments: StoreKind.perEngine,
        [[3, 2], [5, 1, 4]])
    func uneven(_ stores: StoreKind, caps: [Int]) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<20).map { $0 * 10_000 }))
        try await pulled(world, client, pageSize: 1000)
        client.transport.inspect { request, _ in
            let cap = caps[client.transport.requests.count % caps.count]
            return .instead(request.limited(to: cap)) { $0.without(.link) }
        }
        try world.plant([World.row("new", at: 300_000)])
        try await pulled(world, client, pageSize: 1000)
    }

    @Test(
        "F5 a server that limits its pages by their size in bytes hides nothing",
        arguments: allPairs(StoreKind.perEngine, stamps), [1, 600])
    func pageBytes(_ setting: (StoreKind, Stamps), bytes: Int) async throws {
        let (stores, stamps) = setting
        let world = try World(stores) { $0.maximumPageBytes = bytes }
        let client = try await world.makeClient()
        try world.plant(World.rows(at: stamps.ticks))
        try await pulled(world, client, pageSize: 1000)
        try world.plant([World.row("new", at: 300_000), World.row("r001", at: 400_000, deleted: true)])
        try await pulled(world, client, pageSize: 1000)
        try await client.items.pull(TableQuery("TodoItem").order(by: "text").skip(3).limit(7))
        try await client.items.pull()
        #expect(try client.store.versions() == world.serverVersions())
    }

    @Test("F5 a row that moves between pages or is deleted is neither lost nor stale", arguments: StoreKind.perEngine)
    func changesMeanwhile(_ stores: StoreKind) async throws {
        for pageSize in [1, 2, 5] {
            for step in 1...6 {
                let (world, client) = try await World.withClient(stores)
                try world.plant(World.rows(at: (0..<12).map { ($0 / 4) * 10_000 }))
                client.transport.inspect { _, _ in
                    if client.transport.requests.count == step {
                        try? world.plant([
                            World.row("r003", at: 50_000), World.row("r010", at: 50_001),
                            World.row("r005", at: 50_001, deleted: true), World.row("new", at: 50_001),
                        ])
                    }
                    return nil
                }
                try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: pageSize))
                client.transport.inspect(nil)
                try await pulled(world, client, pageSize: pageSize)
            }
        }
    }

    @Test("F5 a row that changes before each request does not keep a pull from ending", arguments: StoreKind.perEngine)
    func restless(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, 0, 0, 0, 0]))
        client.transport.inspect { _, _ in
            let count = client.transport.requests.count
            if count < 20 { try? world.plant([World.row("r001", at: Int64(count) * 10_000)]) }
            return nil
        }
        try await pulled(world, client, pageSize: 2)
    }

    @Test(
        "F5 a server that ignores filter or order is an error, not an endless loop, also in a millisecond of many rows",
        arguments: StoreKind.perEngine,
        [
            ("$filter", 3, false), ("$orderby", 3, false), ("$filter", 1, true), ("$filter", 3, true),
            ("$filter", 20, true),
        ])
    func disobedient(_ stores: StoreKind, _ way: (option: String, pageSize: Int, isCrowd: Bool)) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: (0..<20).map { way.isCrowd ? 0 : (19 - $0) * 10_000 }))
        client.transport.inspect { request, _ in
            client.transport.requests.count > 50 ? .loseRequest : .instead(request.without(way.option)) { $0 }
        }
        await expectSyncError(.noProgress, table: "TodoItem") {
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: way.pageSize))
        }
        #expect(client.transport.requests.count < (way.isCrowd ? 10 : 5))
    }

    @Test("F5 a missing updatedAt is an error naming the row, which no token passes", arguments: StoreKind.perEngine)
    func missingStamp(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant([World.row("a", at: 0), World.row("b", at: 0)])
        client.transport.inspect { _, _ in .change { $0.replacing(#""updatedAt":"#, with: #""was":"#) } }
        await expectSyncError(.noProgress, table: "TodoItem", id: "a") { try await client.items.pull(queryID: "q") }
        #expect(try client.store.tokens().isEmpty)
    }

    @Test("F5 rows without a version are pulled again, but the pull ends", arguments: StoreKind.perEngine)
    func withoutVersion(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try world.plant(World.rows(at: [0, 0, 0, 10_000]).map { $0.merging(["version": .null]) })
        for _ in 1...3 { try await pulled(world, client, pageSize: 2) }
    }
}
