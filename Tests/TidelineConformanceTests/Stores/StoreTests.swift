import Foundation
import Testing
import TidelineConformance
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Runs the conformance suite over every store of the package. (The package of the example runs it over the example's
/// store.)
///
/// `TIDELINE_CONFORMANCE_SEED` sets the first seed of random checks, `TIDELINE_CONFORMANCE_ROUNDS` their number of
/// rounds, `TIDELINE_CONFORMANCE_ROWS` the number of rows, and `TIDELINE_CONFORMANCE_LONG=1` adds the long checks.
@Suite struct StoreTests {
    /// A check of one store.
    struct Case: Sendable, CustomTestStringConvertible {
        let suite: ConformanceSuite
        let check: Check
        var testDescription: String { "\(suite.name): \(check)" }
    }

    private static let suites = StoreKind.all.filter { $0.engine != "sorted" }.map { suite($0.harness) }
    private static let cases = storeCases + checksumCases + observedCases + largeCases

    /// All checks, except that a database of SQLite in memory passes under observation those that it passes as a file.
    private static var storeCases: [Case] {
        suites.flatMap { suite in
            suite.checks.filter {
                suite.name != StoreKind.sqliteInMemory.testDescription || !observed.contains($0.group)
            }
            .map { Case(suite: suite, check: $0) }
        }
    }

    /// The checks that page checksums can affect: durability, damaged files, and stores of earlier releases.
    private static var checksumCases: [Case] {
        let suite = suite(StoreKind.sqliteWithChecksums.harness)
        return suite.checks.filter { $0.group == .durability || $0.needs.contains(.fixtures) }.map {
            Case(suite: suite, check: $0)
        }
    }

    private static let observed: Set<CheckGroup> = [
        .syncCore, .tables, .upsert, .lookup, .transactions, .concurrency, .model,
    ]

    /// The checks of writes, over observed stores in memory; those with files hand over changes by the same code.
    private static var observedCases: [Case] {
        StoreKind.perEngine.filter { !$0.isPersistent }.flatMap { kind in
            let suite = suite(kind.observedHarness)
            return suite.checks.filter { observed.contains($0.group) }.map { Case(suite: suite, check: $0) }
        }
    }

    /// The checks whose limits exceed the size of a table of a few thousand rows.
    private static var largeCases: [Case] {
        StoreKind.perEngine.flatMap { kind in
            let suite = suite(kind.harness, rows: 100_000)
            // How much LevelDB merges depends on the load of the machine.
            let isMerged = kind.testDescription == StoreKind.levelDB.testDescription
            let ids: Set = isMerged ? ["SCA-008", "SCA-009"] : ["SCA-008", "SCA-009", "SCA-010"]
            return suite.checks.filter { ids.contains($0.id) }.map { Case(suite: suite, check: $0) }
        }
    }

    private static func suite(_ harness: StoreHarness, rows: Int = 3_000) -> ConformanceSuite {
        ConformanceSuite(
            harness,
            settings: ConformanceSettings(
                seed: number("SEED") ?? 1, rounds: Int(number("ROUNDS") ?? 1),
                rows: number("ROWS").map { Int($0) } ?? rows, profile: number("LONG") == 1 ? .long : .full))
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["TIDELINE_CONFORMANCE_\(name)"].flatMap { UInt64($0) }
    }

    @Test(arguments: cases) func keepsItsPromises(_ subject: Case) async throws {
        try await ConcurrencyLimit.checks.run { try await subject.suite.verify(subject.check) }
    }

    /// A check that runs on none of the stores would remain unproven.
    @Test func everyCheckRunsOnSomeStoreButForThoseThatNeedTheirOwnHarness() {
        let ran = Set(Self.cases.map(\.check.id))
        let needy: Set<CheckNeed> = [.openingExisting, .limitedSize, .destroying, .noInfinity, .clock]
        let left = Profile.full.checks.filter { !ran.contains($0.id) && needy.isDisjoint(with: $0.needs) }
        #expect(left == [])
    }
}

/// Tests the properties of the package's own stores that are not required of every store, and the list of these stores.
@Suite struct StoreKindTests {
    @Test(arguments: StoreKind.all)
    func capabilitiesAreThoseOfTheKind(_ subject: StoreKind) throws {
        try subject.withStore { store in
            let capabilities = store.capabilities
            #expect(capabilities.isPersistent == subject.isPersistent)
            #expect(capabilities.sharesFilesWithProcesses == subject.sharesFiles)
            #expect(capabilities.readersDoNotBlockWriters == subject.readsBesideWriter)
            #expect(!capabilities.isReadOnly)
            #expect(capabilities.maximumIDLength >= 255)
        }
    }

    @Test(arguments: StoreKind.all)
    func aCancelledTaskWritesNothing(_ subject: StoreKind) async throws {
        try await Task {
            try subject.withStore(TableSchema("t", columns: [])) { store throws in
                withUnsafeCurrentTask { $0?.cancel() }
                expectError(.cancelled) { try store.write { try $0.upsert(["id": "1"], into: "t") } }
                #expect(try store.read { try $0.count(TableQuery("t")) } == 0)
            }
        }.value
    }
}
