import Testing
import Tideline
import TidelineSimulation
import TidelineStore

/// The invariants of the sync core with each built-in conflict policy.
@Suite("Simulation of conflict policies", .timeLimit(.minutes(600)))
struct PolicySimulationTests {
    static let policies: [(name: String, policy: ConflictPolicy)] = [
        ("server wins", .serverWins), ("client wins", .clientWins),
        ("last writer wins", .lastWriterWins(by: "editedAt")),
        ("last writer or delete wins", .lastWriterWins(by: "editedAt", deletions: .deleteWins)),
        ("merge", .merge(["title": .text, "rank": .sum])),
        ("merge, client", .merge(["title": .greatest, "rank": .least], others: .client, deletions: .deleteWins)),
        (
            "custom",
            .custom { conflict in
                guard let local = conflict.local, let server = conflict.server else { return .delete }
                return local["rank"] == .null ? .manual : .row(server.merging(["title": local["title"] ?? .null]))
            }
        ),
    ]

    static let schema = TableSchema(
        "Todo", columns: [.string("title"), .int("rank"), .bool("done"), .timestamp("editedAt")])

    @Test(
        "C3 edits, kills, faults, and clocks in any order violate no invariant", arguments: Seeds(50), policies.indices
    )
    func invariants(seed: UInt64, policy: Int) async throws {
        try await Simulation(seed: seed) { world in
            world.schema = [Self.schema]
            world.options.conflictPolicy = Self.policies[policy].policy
        }.run()
    }

    @Test("C3 a merge by column undoes no edit", arguments: Seeds(50))
    func mergeKeepsEdits(seed: UInt64) async throws {
        try await Simulation(seed: seed) { world in
            world.options.conflictPolicies["Todo"] = .merge(others: .client)
            world.invariant("every edit is kept") { $0.lostEdits }
        }.run()
    }
}
