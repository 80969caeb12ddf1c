import Foundation
import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineSupport
import TidelineTestStores

@testable import Tideline

/// A server with random writes and faults from a seed. When it becomes quiet, the client must equal it.
@Suite("Incremental pull from a random server", .releasesClients, .bothDialects)
struct IncrementalPullRandomTests {
    private static let environment = ProcessInfo.processInfo.environment
    static let rounds = environment["TIDELINE_TEST_ROUNDS"].flatMap { Int($0) } ?? 40
    static let seeds =
        environment["TIDELINE_TEST_SEED"].flatMap { UInt64($0) }.map { $0...$0 }
        ?? 1...UInt64(max(rounds, 1))

    /// Random writes and faults between client and server.
    final class Mischief: Sendable {
        private struct State {
            var chance: SplitMix64
            var ticks: Int64 = 0
            var isQuiet = false
        }

        private let world: World
        private let state: Mutex<State>

        init(world: World, seed: UInt64) {
            self.world = world
            state = Mutex(State(chance: SplitMix64(seed: seed)))
        }

        func beQuiet() { state.withLock { $0.isQuiet = true } }

        /// Writes a few rows with mostly increasing timestamps, some of them late but within the look-back.
        func write() throws {
            let rows = state.withLock { state in
                (0..<Int.random(in: 0...6, using: &state.chance)).map { _ in
                    // Sometimes the clock stops, so that many rows share a millisecond or a timestamp.
                    if state.chance.happens(60) {
                        state.ticks += Int64.random(
                            in: 0...(state.chance.happens(50) ? 3 : 30_000), using: &state.chance)
                    }
                    let isLate = state.chance.happens(15)
                    let late = isLate ? Int64.random(in: 0...20_000_000, using: &state.chance) : 0
                    return World.row(
                        "r\(Int.random(in: 0..<40, using: &state.chance))", at: state.ticks - late,
                        deleted: state.chance.happens(20)
                    ).merging(["version": .string("\(state.chance.next())")])
                }
            }
            try world.plant(rows)
        }

        func fault(for request: HTTPRequest) throws -> FaultyTransport<TestStore>.Fault? {
            let draw = state.withLock { state in
                (
                    state.isQuiet, writes: state.chance.happens(30), cap: Int.random(in: 1...9, using: &state.chance),
                    caps: state.chance.happens(50), fails: state.chance.happens(8), hides: state.chance.happens(50)
                )
            }
            if !draw.0, draw.writes { try write() }
            if !draw.0, draw.fails { return .loseAnswer }
            guard draw.caps else { return nil }
            return .instead(request.limited(to: draw.cap)) { draw.hides ? $0.without(.link) : $0 }
        }

        func settings() -> PullSettings {
            state.withLock { state in
                PullSettings(
                    pageSize: Int.random(in: 1...12, using: &state.chance),
                    pagesPerTransaction: Int.random(in: 1...4, using: &state.chance))
            }
        }
    }

    @Test(
        "F5 F6 F8 client and server end equal after any writes, page limits, late commits and failures",
        arguments: StoreKind.perEngine,
        seeds)
    func converges(_ stores: StoreKind, seed: UInt64) async throws {
        let (world, client) = try await World.withClient(stores)
        let mischief = Mischief(world: world, seed: seed)
        for _ in 0..<5 { try mischief.write() }
        client.transport.inspect { request, _ in try? mischief.fault(for: request) }
        for _ in 0..<6 {
            do {
                try await client.items.pull(queryID: "q", settings: mischief.settings())
            } catch let error as SyncError where error.code == .network {
                // A lost answer ends a pull; the next one resumes.
            }
            try mischief.write()
        }
        mischief.beQuiet()
        client.transport.clear()
        try await client.items.pull(queryID: "q", settings: mischief.settings())
        #expect(try client.store.versions() == world.serverVersions(), "seed \(seed)")
        #expect(client.transport.requests.count < 400, "seed \(seed)")
    }
}

extension SplitMix64 {
    fileprivate mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
