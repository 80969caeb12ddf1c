import Foundation
import Synchronization
import Testing
import Tideline
import TidelineLMDB
import TidelineLevelDB
import TidelineMemory
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

@testable import TidelineSimulation

/// The invariants of the sync core, and the simulation itself.
///
/// The environment variable `TIDELINE_SEEDS` sets the number of seeds, `TIDELINE_SEED` runs a single one.
@Suite("Simulation", .timeLimit(.minutes(600)))
struct SimulationTests {
    @Test("Edits, kills, faults, and clocks in any order violate no invariant", arguments: Seeds(600))
    func invariants(seed: UInt64) async throws {
        try await Simulation(seed: seed).run()
    }

    @Test("The invariants hold in the dialect Datasync 3", arguments: Seeds(200))
    func datasync(seed: UInt64) async throws {
        try await Simulation(seed: seed) { $0.dialect = .datasync3 }.run()
    }

    @Test("A sync that runs itself, with kills and faults at any point, violates no invariant", arguments: Seeds(50))
    func selfRunning(seed: UInt64) async throws {
        try await Simulation(seed: seed, Self.syncing).run()
    }

    @Test(
        "Dialects, references, policies, transactions, and a sync that runs itself, in any combination",
        arguments: Seeds(160))
    func varied(seed: UInt64) async throws {
        try await Simulation(seed: seed) { $0.vary(by: seed) }.run()
    }

    @Test("The invariants hold in a custom dialect, whose server has late stamps and loses rows", arguments: Seeds(160))
    func kinto(seed: UInt64) async throws {
        try await Simulation(seed: seed) { $0.varyKinto(by: seed) }.run()
    }

    @Test(
        "A mistake of a custom dialect is found",
        arguments: [
            "any 404 is gone", "there is no step back", "tombstones are ignored", "an update has no version",
            "a delete has no version", "an insert replaces", "every page is the last",
            "a restored server is not recognized",
        ])
    func flaws(_ name: String) async throws {
        let flaw = try #require(KintoFlaw.all.first { $0.description == name })
        await #expect(throws: SimulationFailure.self) {
            for seed in 1...600 as ClosedRange<UInt64> {
                try await Simulation(seed: seed) { $0.varyKinto(by: seed, flaw: flaw) }.run()
            }
        }
    }

    /// Expects the same timeline each time, with a line that contains `text`, if given.
    private func expectRepetition(
        _ seed: UInt64, with text: String? = nil, _ configure: (inout SimulatedWorld) -> Void = { _ in }
    ) async throws {
        var timelines: [[String]] = []
        for _ in 0...3 {
            let run = try await Simulation(seed: seed) { world in
                configure(&world)
                world.recordsTimeline = true
            }.run()
            timelines.append(run.timeline)
        }
        #expect(timelines[0].count > 10)
        if let text { #expect(timelines[0].contains { $0.contains(text) }) }
        #expect(Set(timelines).count == 1)
    }

    @Test("The same seed gives the same timeline", arguments: UInt64(1)...20)
    func repeats(seed: UInt64) async throws { try await expectRepetition(seed) }

    /// Seeds in which another process of a device defines tables while the device synchronizes are among them.
    @Test("The same seed gives the same timeline in a custom dialect", arguments: [1, 2, 3, 4, 29, 207] as [UInt64])
    func repeatsKinto(seed: UInt64) async throws {
        try await expectRepetition(seed, with: "/collections/") { $0.varyKinto(by: seed) }
    }

    @Test("The same seed gives the same timeline of a sync that runs itself", arguments: UInt64(1)...10)
    func repeatsSelfRunning(seed: UInt64) async throws {
        try await expectRepetition(seed, with: "sync itself", Self.syncing)
    }

    @Test("The same seed gives the same failure with a server that makes the identifiers", arguments: UInt64(1)...5)
    func repeatsMadeIDs(seed: UInt64) async throws {
        var timelines: Set<[String]> = []
        for _ in 0...2 {
            let failure = await #expect(throws: SimulationFailure.self) {
                try await Simulation(seed: seed) { $0.servers = [.makesIDs] }.run()
            }
            timelines.insert(try #require(failure).timeline)
        }
        #expect(timelines.count == 1)
    }

    private static func syncing(_ world: inout SimulatedWorld) {
        world.steps = 40
        world.action("sync itself", weight: 20) { device in
            let seconds = device.random(in: 1..<200)
            try await device.sync([SyncSubscription("Todo", interval: .seconds(15))], for: .seconds(seconds))
        }
    }

    @Test("The invariants hold over files", arguments: ["sqlite", "lmdb", "leveldb"])
    func files(_ engine: String) async throws {
        let folder = try TemporaryFolder()
        for seed in Seeds(20) {
            try await Simulation(seed: seed) { world in
                world.openStore = { name in
                    let path = "\(folder.path)/\(name)"
                    return switch engine {
                    case "sqlite": try SQLiteStore(path: path)
                    case "lmdb": try LMDBStore(path: path)
                    default: try LevelDBStore(path: path)
                    }
                }
            }.run()
        }
    }

    @Test("Different seeds give different timelines")
    func differs() async throws {
        var timelines: Set<[String]> = []
        for seed in UInt64(1)...20 {
            timelines.insert(try await Simulation(seed: seed) { $0.recordsTimeline = true }.run().timeline)
        }
        #expect(timelines.count == 20)
    }

    @Test("A configuration that cannot be simulated is an error that names it")
    func configuration() async {
        let changes: [(String, @Sendable (inout SimulatedWorld) -> Void)] = [
            ("devices", { $0.devices = 0 }), ("steps", { $0.steps = -1 }), ("rows", { $0.rows = 0 }),
            ("schema", { $0.schema = [] }), ("servers", { $0.servers = [] }),
            ("integer ids", { $0.schema = [TableSchema("T", columns: [.int("n")], idType: .int)] }),
            ("weight", { $0.action("a", weight: -1) { _ in } }),
        ]
        for (text, change) in changes {
            let error = await #expect(throws: SimulationError.self) { try await Simulation(seed: 1, change).run() }
            #expect(error?.description.contains(text) == true)
        }
    }
}

/// A fault that the simulation found, with the schedule that it printed.
struct Replay: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let schedule: SimulationSchedule

    init(_ name: String, seed: UInt64, devices: Int, serverQuirks: Int = 0, _ steps: SimulationStep...) {
        testDescription = name
        schedule = SimulationSchedule(seed: seed, devices: devices, serverQuirks: serverQuirks, steps: steps)
    }
}

extension SimulationStep.Action {
    /// A pull of all rows.
    fileprivate static let pullAll = Self.pull(table: "Todo", queryID: "all", isFiltered: false)

    fileprivate static func edit(_ id: String, _ column: String) -> Self {
        .write(table: "Todo", id: id, columns: [column])
    }

    fileprivate static func remove(_ id: String) -> Self { .delete(table: "Todo", id: id) }
    fileprivate static func serverEdit(_ id: String) -> Self { .serverWrite(table: "Todo", id: id) }
}

@Suite("Replays of found faults")
struct ReplayTests {
    private static let replays: [Replay] = [
        Replay(
            "F5 a row is pulled that a server with a clock that went back stamps directly after its newest row",
            seed: 8007, devices: 3,
            SimulationStep(6, .edit("r2", "rank"), on: 2),
            SimulationStep(8, .push, on: 2),
            SimulationStep(9, .edit("r1", "title"), on: 1),
            SimulationStep(13, .wait(seconds: 60)),
            SimulationStep(14, .pullAll, on: 2),
            SimulationStep(21, .setServerClock(seconds: -3600))),
        Replay(
            "The world takes a conflict with a row of a page as the server's word, like one with a refusal",
            seed: 5_930_294, devices: 1,
            SimulationStep(1, .edit("r1", "rank"), on: 0),
            SimulationStep(7, .pullAll, on: 0, overlap: 27),
            SimulationStep(8, .edit("r1", "title"), on: 0, overlap: 0),
            SimulationStep(9, .push, on: 0, overlap: 11),
            SimulationStep(10, .edit("r1", "title"), on: 0, overlap: 17),
            SimulationStep(11, .serverEdit("r1"))),
        Replay(
            "C1 the server row of a conflict has the columns that were defined and pulled after the conflict",
            seed: 98653, devices: 2,
            SimulationStep(4, .edit("r2", "rank"), on: 1),
            SimulationStep(5, .serverEdit("r2")),
            SimulationStep(7, .pullAll, on: 1),
            SimulationStep(12, .update, on: 1),
            SimulationStep(16, .pullAll, on: 1)),
        Replay(
            "F17 a row that was pulled after a conflict is shown, although the server's clock went back on it",
            seed: 2289, devices: 3, serverQuirks: 957,
            SimulationStep(19, .serverEdit("r1")),
            SimulationStep(21, .setServerClock(seconds: -1)),
            SimulationStep(22, .edit("r1", "title"), on: 1),
            SimulationStep(23, .push, on: 1),
            SimulationStep(24, .serverEdit("r1"))),
        Replay(
            "F4 a row that was pulled before a conflict remains, if its pending insert is deleted after the conflict",
            seed: 17547, devices: 2,
            SimulationStep(4, .serverEdit("r1")),
            SimulationStep(11, .serverEdit("r2")),
            SimulationStep(12, .setServerClock(seconds: 3600)),
            SimulationStep(13, .edit("r2", "rank"), on: 1),
            SimulationStep(14, .sync(seconds: 26), on: 1),
            SimulationStep(16, .edit("r2", "title"), on: 1),
            SimulationStep(18, .push, on: 1),
            SimulationStep(20, .remove("r2"), on: 1)),
        Replay(
            "F17 the first of the two requests of a restore is not taken for a change by others",
            seed: 30018, devices: 1,
            SimulationStep(8, .edit("r3", "rank"), on: 0),
            SimulationStep(9, .push, on: 0),
            SimulationStep(11, .remove("r3"), on: 0),
            SimulationStep(14, .pullAll, on: 0, overlap: 7),
            SimulationStep(15, .edit("r3", "title"), on: 0, overlap: 0),
            SimulationStep(16, .push, on: 0, overlap: 43),
            SimulationStep(18, .remove("r3"), on: 0)),
        Replay(
            "C4 a row that was pulled before the conflict is not shown after the conflict was resolved",
            seed: 8218, devices: 2,
            SimulationStep(11, .serverEdit("r1")),
            SimulationStep(12, .pullAll, on: 1),
            SimulationStep(15, .pullAll, on: 0, overlap: 1),
            SimulationStep(16, .edit("r1", "rank"), on: 0),
            SimulationStep(18, .edit("r1", "rank"), on: 1),
            SimulationStep(19, .push, on: 1),
            SimulationStep(21, .remove("r1"), on: 1)),
    ]

    private static let signIns: [Replay] = (1...12).map { (overlap: Int) in
        Replay(
            "L13 a push that began without a user does not send the edits of one who signs in, overlap \(overlap)",
            seed: 2134, devices: 1,
            SimulationStep(8, .edit("r3", "title"), on: 0),
            SimulationStep(9, .edit("r1", "title"), on: 0),
            SimulationStep(19, .push, on: 0, overlap: overlap),
            SimulationStep(21, .signIn(user: 1), on: 0, overlap: 1),
            SimulationStep(22, .edit("r1", "rank"), on: 0))
    }

    @Test("A fault that was found does not come back", arguments: replays + signIns)
    func replay(_ replay: Replay) async throws { try await Simulation(replay.schedule).run() }
}

/// Failures: what they show, and worlds that the author breaks.
@Suite("Simulated failures")
struct SimulationFailureTests {
    /// Returns the failure of the first seed that fails.
    private func failure(
        seeds: ClosedRange<UInt64> = 1...200, _ configure: (inout SimulatedWorld) -> Void
    ) async throws -> SimulationFailure {
        try await failure(of: seeds) { try await Simulation(seed: $0, configure).run() }
    }

    private func failure(
        of seeds: ClosedRange<UInt64>, _ run: (UInt64) async throws -> Void
    ) async throws -> SimulationFailure {
        for seed in seeds {
            do { try await run(seed) } catch let failure as SimulationFailure { return failure }
        }
        throw NoFailure(seeds: seeds)
    }

    private struct NoFailure: Error {
        let seeds: ClosedRange<UInt64>
    }

    @Test("A policy by the device's clock loses an edit, as the article shows")
    func article() async throws {
        let failure = try await failure(of: 1...200) { try await everyEditIsKept(seed: $0) }
        #expect(failure.violations.allSatisfy { $0.invariant == "every edit is kept" })
        #expect(failure.schedule.steps.count <= 12)

        let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let root = here.deletingLastPathComponent().deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appendingPathComponent(
                "Sources/TidelineSimulation/TidelineSimulation.docc/TestingYourAppsSync.md"), encoding: .utf8)
        let code = try String(
            contentsOf: here.appendingPathComponent("LastWriterWinsTests.swift"), encoding: .utf8)
        for part in code.split(separator: "// article: ").dropFirst() {
            let lines = part.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            let text = lines.prefix { $0 != "// end" }.joined(separator: "\n")
            #expect(article.contains(text), "the article must contain:\n\(text)")
        }
        let shown = failure.description
        #expect(article.contains(shown), "the article must contain:\n\(shown)")
    }

    @Test("A store that loses a commit is reported")
    func losingStore() async throws {
        let failure = try await failure { world in
            world.openStore = { name in
                let store = try MemoryStore()
                return name.hasPrefix("server") ? store as any LocalStore : LosingStore(store)
            }
        }
        #expect(!failure.timeline.isEmpty && !failure.violations.isEmpty)
    }

    @Test("A policy that throws leaves operations in the queue, which is reported")
    func throwingPolicy() async throws {
        struct Refusing: SyncContextDelegate {
            struct Refusal: Error {}
            func perform(_ operation: PushOperation) async throws -> Row? { throw Refusal() }
        }
        let failure = try await failure(seeds: 2...200) { $0.policy = Refusing() }
        #expect(failure.violations[0].invariant == "the queue becomes empty")
        #expect(failure.schedule.steps.count == 1)
    }

    @Test("A policy that never returns is reported, and the simulation ends")
    func waitingPolicy() async throws {
        struct Waiting: SyncContextDelegate {
            func perform(_ operation: PushOperation) async throws -> Row? {
                try await withTaskCancellationHandler {
                    try await Task.sleep(for: .seconds(3600))
                } onCancel: {
                }
                return nil
            }
        }
        let failure = try await failure { world in
            world.policy = Waiting()
            world.steps = 6
        }
        #expect(failure.violations[0].invariant == "every action ends")
        #expect(failure.violations[0].message.contains("outside of the simulation"))
    }

    @Test("An action that never ends is stopped at the maximum number of jobs")
    func endlessAction() async throws {
        let failure = try await failure { world in
            world.maximumJobs = 5_000
            world.steps = 3
            world.action("spin", weight: 10_000) { _ in while !Task.isCancelled { await Task.yield() } }
        }
        #expect(failure.violations[0].invariant == "every action ends")
        #expect(failure.violations[0].message.contains("5000 jobs"))
        #expect(failure.replay.contains(#".custom(name: "spin")"#))
    }

    @Test("An action's undocumented error, and a check that throws, are reported")
    func authorsErrors() async throws {
        struct Broken: Error {}
        let first = try await failure { world in
            world.action("break", weight: 100) { _ in throw Broken() }
        }
        #expect(first.violations[0].invariant == "errors are documented")
        let second = try await failure { world in world.invariant("mine") { _ in throw Broken() } }
        #expect(second.violations[0] == Violation(invariant: "mine", message: "Broken()"))
        #expect(second.schedule.steps.isEmpty && second.schedule.devices == 1)
    }

    @Test("A failure's JSON is a schedule that fails in the same way, with the same timeline")
    func json() async throws {
        func configure(_ world: inout SimulatedWorld) {
            world.invariant("title is never written") { state in
                try state.serverRows(of: "Todo").filter { $0["title"]?.isNull == false }
            }
        }
        let failure = try await failure(configure)
        let schedule = try JSONDecoder().decode(SimulationSchedule.self, from: Data(failure.json.utf8))
        #expect(schedule == failure.schedule)
        let again = await #expect(throws: SimulationFailure.self) {
            try await Simulation(schedule, configure).run()
        }
        #expect(again?.timeline == failure.timeline && again?.violations == failure.violations)
        #expect(failure.description.contains(failure.replay) && failure.replay.contains("seed: \(failure.seed)"))
    }
}

/// A store that loses each fourth commit.
private final class LosingStore: StoreLayer {
    typealias Reader = AnyStore.Reader
    typealias Writer = AnyStore.Writer

    let base: AnyStore
    private let writes = Mutex(0)

    init(_ base: some LocalStore) { self.base = AnyStore(base) }

    func write<T>(_ body: (AnyStore.Writer) throws -> T) throws -> T {
        let isLost = writes.withLock { writes in
            writes += 1
            return writes % 4 == 0
        }
        guard isLost else { return try base.write(body) }
        var result: T?
        do {
            return try base.write { writer in
                result = try body(writer)
                throw CancellationError()
            }
        } catch {
            if let result { return result }
            throw error
        }
    }
}
