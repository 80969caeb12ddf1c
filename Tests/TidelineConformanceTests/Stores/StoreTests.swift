import Foundation
import Testing
import TidelineConformance
import TidelineTestStores
import TidelineTestSupport

/// Every store of the package keeps what every local store promises. (The example's is held to it by its own package.)
///
/// `TIDELINE_CONFORMANCE_SEED` sets what random checks begin with, `TIDELINE_CONFORMANCE_ROUNDS` how often they try.
@Suite struct StoreTests {
    /// A check of one store.
    struct Case: Sendable, CustomTestStringConvertible {
        let suite: ConformanceSuite
        let check: Check
        var testDescription: String { "\(suite.name): \(check)" }
    }

    private static let suites = StoreKind.all.filter { $0.engine != "sorted" }.map(suite(of:))
    private static let cases =
        suites.flatMap { suite in suite.checks.map { Case(suite: suite, check: $0) } } + checksumCases

    /// What checksums can change: how a store lasts, and what becomes of damaged files.
    private static var checksumCases: [Case] {
        let suite = suite(of: .sqliteWithChecksums)
        return suite.checks.filter { $0.group == .durability }.map { Case(suite: suite, check: $0) }
    }

    /// Without a limit, all checks begin at once, and those that wait for threads of their own time out on a busy machine.
    private static let limit = ConcurrencyLimit(4)

    private static func suite(of kind: StoreKind) -> ConformanceSuite {
        ConformanceSuite(
            kind.harness,
            settings: ConformanceSettings(
                seed: number("SEED") ?? 1, rounds: Int(number("ROUNDS") ?? 1), rows: 3_000))
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["TIDELINE_CONFORMANCE_\(name)"].flatMap { UInt64($0) }
    }

    @Test(arguments: cases) func keepsItsPromises(_ subject: Case) async throws {
        try await Self.limit.run { try await subject.suite.verify(subject.check) }
    }

    /// What does not run on any of them would go unproven.
    @Test func everyCheckRunsOnSomeStoreButForThoseThatNeedTheirOwnHarness() {
        let ran = Set(Self.cases.map(\.check.id))
        let needy: Set<CheckNeed> = [
            .openingExisting, .openingReadOnly, .limitedSize, .destroying, .noInfinity,
        ]
        let left = Check.all.filter { !ran.contains($0.id) && needy.isDisjoint(with: $0.needs) }
        #expect(left == [])
    }
}
