import Foundation
import SortedFileStore
import Testing
import TidelineConformance
import TidelineFaults

/// The store keeps what every local store promises.
@Suite struct ConformanceTests {
    /// With a second process, `conformance` of this package, and a layer around the file calls, nearly every check runs.
    /// A store that has neither is held to the rest by `ConformanceSuite { try SortedFileStore(path: $0) }`.
    static let suite = ConformanceSuite(
        StoreHarness(
            name: "sorted-file", modes: [], process: StoreProcess(executable: neighbour("conformance")),
            faults: InterposedFiles()
        ) { try SortedFileStore(path: $0.directory) },
        settings: ConformanceSettings(rows: 2_000))

    @Test(arguments: suite.checks) func conforms(_ check: Check) async throws { try await Self.suite.verify(check) }

    /// An executable beside that of the tests.
    private static func neighbour(_ name: String) -> String {
        let folder = Bundle.main.executableURL?.deletingLastPathComponent() ?? URL(fileURLWithPath: ".")
        return folder.appendingPathComponent(name).path
    }
}
