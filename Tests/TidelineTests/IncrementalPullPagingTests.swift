import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport
import TidelineWire

@testable import Tideline

/// The rule F5: whatever the stamps, the pages and the server's limits, no row is lost or left stale.
@Suite("Pages of an incremental pull")
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

    /// What stands between client and server.
    enum Server: String, Sendable, CaseIterable {
        case plain
        /// Pages of at most 3 rows and no word about it.
        case caps
        /// As `caps`, and no total count.
        case capsWithoutCount
        /// Answers stamps cut to milliseconds.
        case milliseconds

        func fault(for request: HTTPRequest) -> FaultyTransport<AnyStore>.Fault? {
            switch self {
            case .plain: nil
            case .caps: .instead(request.limited(to: 3)) { $0.without(.link) }
            case .capsWithoutCount:
                .instead(request.limited(to: 3).without("$inlinecount")) { $0.without(.link) }
            case .milliseconds:
                .change { answer in
                    var answer = answer
                    let text = String(decoding: answer.body, as: UTF8.self)
                    answer.body = Array(text.replacing(/(\.\d{3})\d+Z/) { "\($0.output.1)Z" }.utf8)
                    return answer
                }
            }
        }
    }

    /// Every server on one store, as no store can tell them apart; and the one with the most pages on every engine.
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
        "F5 rows with any stamps are all pulled, with pages of any size, from servers that cap them or cut stamps",
        arguments: settings)
    func complete(_ stores: StoreKind, _ stamps: Stamps, _ server: Server) async throws {
        for pageSize in [1, 2, 4, 25, 1000] {
            let world = try World(stores)
            let client = try await world.makeClient()
            client.transport.inspect { request, _ in server.fault(for: request) }
            try world.plant(World.rows(at: stamps.ticks))
            try await pulled(world, client, pageSize: pageSize)
            // At rest, within the lookback: all rows come again, in pages that may bring nothing new.
            try await pulled(world, client, pageSize: pageSize)
            try world.plant([World.row("new", at: 300_000), World.row("r007", at: 300_000)])
            try await pulled(world, client, pageSize: pageSize)
            try world.plant([World.row("late", at: 10_000), World.row("r001", at: 400_000, deleted: true)])
            try await pulled(world, client, pageSize: pageSize)
        }
    }

    @Test(
        "F5 a server that caps its pages by other measures than rows hides nothing", arguments: StoreKind.perEngine,
        [[3, 2], [5, 1, 4]])
    func uneven(_ stores: StoreKind, caps: [Int]) async throws {
        let world = try World(stores)
        let client = try await world.makeClient()
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
        "F5 a row that moves to the end between pages, or is deleted, is neither lost nor left stale",
        arguments: StoreKind.perEngine)
    func changesMeanwhile(_ stores: StoreKind) async throws {
        for pageSize in [1, 2, 5] {
            for step in 1...6 {
                let world = try World(stores)
                let client = try await world.makeClient()
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

    @Test(
        "F5 a row that changes each time the client looks does not hold the pull up for ever",
        arguments: StoreKind.perEngine)
    func restless(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeClient()
        try world.plant(World.rows(at: [0, 0, 0, 0, 0]))
        client.transport.inspect { _, _ in
            let count = client.transport.requests.count
            if count < 20 { try? world.plant([World.row("r001", at: Int64(count) * 10_000)]) }
            return nil
        }
        try await pulled(world, client, pageSize: 2)
    }

    @Test(
        "F5 a server that does not follow filter or order is an error, not a loop", arguments: StoreKind.perEngine,
        ["$filter", "$orderby"])
    func disobedient(_ stores: StoreKind, option: String) async throws {
        let world = try World(stores)
        let client = try await world.makeClient()
        try world.plant(World.rows(at: (0..<20).map { (19 - $0) * 10_000 }))
        client.transport.inspect { request, _ in
            client.transport.requests.count > 50 ? .loseRequest : .instead(request.without(option)) { $0 }
        }
        let error = await #expect(throws: SyncError.self) {
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: 3))
        }
        #expect(error?.code == .noProgress && error?.table == "TodoItem")
        #expect(client.transport.requests.count < 5)
    }

    @Test(
        "F5 a server that ignores the filter in a crowded millisecond is an error, not a loop",
        arguments: StoreKind.perEngine, [1, 3, 20])
    func disobedientInCrowd(_ stores: StoreKind, pageSize: Int) async throws {
        let world = try World(stores)
        let client = try await world.makeClient()
        try world.plant(World.rows(at: (0..<20).map { _ in 0 }))
        client.transport.inspect { request, _ in
            client.transport.requests.count > 50 ? .loseRequest : .instead(request.without("$filter")) { $0 }
        }
        let error = await #expect(throws: SyncError.self) {
            try await client.items.pull(queryID: "q", settings: PullSettings(pageSize: pageSize))
        }
        #expect(error?.code == .noProgress)
        #expect(client.transport.requests.count < 10)
    }

    @Test(
        "F5 a missing updatedAt is an error that names the row, and no token passes it", arguments: StoreKind.perEngine)
    func missingStamp(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeClient()
        try world.plant([World.row("a", at: 0), World.row("b", at: 0)])
        client.transport.inspect { _, _ in .change { $0.replacing(#""updatedAt":"#, with: #""was":"#) } }
        let error = await #expect(throws: SyncError.self) { try await client.items.pull(queryID: "q") }
        #expect(error?.code == .noProgress && error?.table == "TodoItem" && error?.id == "a")
        #expect(try client.store.tokens().isEmpty)
    }

    @Test("F5 rows without a version come again, but end the pull all the same", arguments: StoreKind.perEngine)
    func withoutVersion(_ stores: StoreKind) async throws {
        let world = try World(stores)
        let client = try await world.makeClient()
        try world.plant(World.rows(at: [0, 0, 0, 10_000]).map { $0.merging("version", .null) })
        for _ in 1...3 { try await pulled(world, client, pageSize: 2) }
    }
}
