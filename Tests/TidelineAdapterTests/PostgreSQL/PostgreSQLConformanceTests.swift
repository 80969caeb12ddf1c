#if PostgreSQL && Tool
import Foundation
import Testing
import TidelineConformance
import TidelinePostgreSQL
import TidelineTestStores
import TidelineTestSupport

/// Runs the conformance suite over stores in a database. Each folder of the suite stands for a schema.
///
/// `TIDELINE_CONFORMANCE_SEED` sets the first seed of random checks, `TIDELINE_CONFORMANCE_ROUNDS` their number of
/// rounds.
@Suite(.needsPostgreSQL) struct PostgreSQLConformanceTests {
    private static let suite = ConformanceSuite(
        harness,
        settings: ConformanceSettings(seed: number("SEED") ?? 1, rounds: Int(number("ROUNDS") ?? 1), rows: 3_000))

    private static let harness: StoreHarness = {
        let connection = (try? TestServer.shared.get().connection()) ?? ""
        var harness = StoreHarness(
            name: "PostgreSQL", modes: [.existing, .readOnly],
            process: StoreProcess.probe("postgresql:\(connection)"), damagesFiles: false,
            destroy: { directory in
                var options = options(directory)
                // A store that is open stays open during the checks. On a busy machine, the server ends the connections
                // of a closed one seconds later.
                options.busyTimeout = .seconds(5)
                try PostgreSQLStore.destroy(connection: connection, options: options)
            },
            open: { try PostgreSQLStore(connection: connection, options: options($0)) })
        harness.keepsFiles = false
        harness.lacking = [
            .files: "the rows are in the server's files",
            .faults: "the files are the server's, which another process writes",
            .limitedSize: "the size of a store is not limited",
            .damage: "the files are the server's, which verifies them itself",
            .fixtures: "no earlier version was released",
            .engine: "the rows are in tables of the database",
            .clock: "no work of the store waits for a time",
        ]
        return harness
    }()

    private static func options(_ opening: StoreOpening) -> PostgreSQLOptions {
        var options = options(opening.directory)
        options.createsIfMissing = opening.access == .readWrite
        options.isReadOnly = opening.access == .readOnly
        return options
    }

    private static func options(_ directory: String) -> PostgreSQLOptions {
        .patient(schema: schemaName(ofFolder: directory))
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["TIDELINE_CONFORMANCE_\(name)"].flatMap { UInt64($0) }
    }

    @Test(arguments: suite.checks) func keepsItsPromises(_ check: Check) async throws {
        try await ConcurrencyLimit.checks.run { try await Self.suite.verify(check) }
    }

    /// Every other check is skipped for a reason that the store or the harness declares.
    @Test func everyOmittedCheckHasAReason() {
        // The long checks belong to a profile of their own.
        let omitted = Self.suite.omitted.filter { !$0.id.hasPrefix("LNG") }
        for result in omitted { #expect(result.status == .skipped, "\(result.id)") }
        let ids = Set(omitted.map(\.id))
        #expect(ids.count < 100)
        #expect(ids.isDisjoint(with: Check.all.filter(\.needs.isEmpty).map(\.id)))
    }
}
#endif
