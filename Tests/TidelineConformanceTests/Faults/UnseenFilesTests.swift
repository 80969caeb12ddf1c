import Testing
import TidelineConformance
import TidelineTestStores

/// Tests that a store whose file access bypasses the layer gets no verdict.
@Suite struct UnseenFilesTests {
    /// A layer that sees nothing.
    private struct BlindFaults: FileFaults {
        let isAvailable: Bool

        func observing<T>(_ directory: String, by observer: any FileObserver, _ body: () throws -> T) throws -> T {
            try body()
        }
    }

    /// Returns a suite over a store on files, with the given fault layer.
    private static func suite(_ faults: any FileFaults) -> ConformanceSuite? {
        guard var harness = StoreKind.all.first(where: { $0.testDescription == "SQLite file" })?.harness else {
            return nil
        }
        harness.faults = faults
        return ConformanceSuite(harness)
    }

    private static let checks =
        suite(BlindFaults(isAvailable: true))?.checks.filter { $0.needs.contains(.faults) } ?? []

    @Test(arguments: checks) func whatIsNotSeenIsNotJudged(_ check: Check) async throws {
        let result = await (try #require(Self.suite(BlindFaults(isAvailable: true)))).run(check)
        #expect(result.status == .notRun)
        #expect(result.reason?.contains("observed") == true)
    }

    /// On a platform without the layer, the checks that need one do not run.
    @Test func aPlatformWithoutTheLayerOmitsTheChecks() throws {
        let suite = try #require(Self.suite(BlindFaults(isAvailable: false)))
        #expect(suite.checks.allSatisfy { !$0.needs.contains(.faults) })
        let omitted = suite.omitted.filter { Check.named($0.id)?.needs.contains(.faults) == true }
        #expect(omitted.contains { $0.status == .notRun })
        #expect(omitted.allSatisfy { $0.status == .notRun || $0.status == .skipped })
    }
}
