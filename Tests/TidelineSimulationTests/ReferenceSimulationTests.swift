import Testing
import Tideline
import TidelineSimulation
import TidelineStore

/// The invariants of the sync core with tables that reference each other.
@Suite("Simulation of references", .timeLimit(.minutes(600)))
struct ReferenceSimulationTests {
    static let schema = [
        TableSchema(
            "Item", columns: [.string("title"), .string("list")],
            references: [ForeignKey(column: "list", table: "List")]),
        TableSchema(
            "List", columns: [.int("rank"), .string("folder")],
            references: [ForeignKey(column: "folder", table: "Folder")]),
        TableSchema(
            "Folder", columns: [.string("title"), .string("parent")],
            references: [ForeignKey(column: "parent", table: "Folder")]),
    ]

    private static func reference(_ world: inout SimulatedWorld, maxInFlight: Int = 8) {
        world.schema = schema
        world.steps = 40
        world.push.maxInFlight = maxInFlight
    }

    @Test("Q3 parents are sent before children, and no other invariant is violated", arguments: Seeds(150), [8, 1])
    func invariants(seed: UInt64, maxInFlight: Int) async throws {
        try await Simulation(seed: seed) { Self.reference(&$0, maxInFlight: maxInFlight) }.run()
    }

    @Test("Q3 the same in the dialect Datasync 3", arguments: Seeds(80))
    func datasync(seed: UInt64) async throws {
        try await Simulation(seed: seed) { world in
            Self.reference(&world)
            world.dialect = .datasync3
        }.run()
    }

    @Test("Q3 the same with a policy, and with a sync that runs itself", arguments: Seeds(40))
    func selfRunning(seed: UInt64) async throws {
        try await Simulation(seed: seed) { world in
            Self.reference(&world)
            world.options.conflictPolicy = .clientWins
            world.action("sync itself", weight: 20) { device in
                let subscriptions = Self.schema.map { SyncSubscription($0.name, interval: .seconds(15)) }
                try await device.sync(subscriptions, for: .seconds(device.random(in: 1..<200)))
            }
        }.run()
    }

    @Test("Q3 the same after an update of the app that declares the references", arguments: Seeds(40))
    func declaredLater(seed: UInt64) async throws {
        try await Simulation(seed: seed) { world in
            Self.reference(&world)
            world.earlierSchema = Self.schema.map { table in
                var table = table
                table.references = []
                return table
            }
        }.run()
    }
}
