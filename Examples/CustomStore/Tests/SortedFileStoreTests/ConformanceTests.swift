import Foundation
import SortedFileStore
import Testing
import TidelineConformance
import TidelineFaults

/// The conformance suite, run on `SortedFileStore`.
@Suite struct ConformanceTests {
    /// Nearly every check runs, because the harness has a second process (this package's `conformance`) and a layer
    /// around the file calls. Without them, `ConformanceSuite { try SortedFileStore(path: $0) }` runs the other checks.
    static let suite = ConformanceSuite(
        StoreHarness(
            name: "sorted-file", modes: [], process: StoreProcess(executable: neighbour("conformance")),
            faults: InterposedFiles()
        ) { try SortedFileStore(path: $0.directory) },
        settings: ConformanceSettings(rows: 2_000))

    @Test(arguments: suite.checks) func conforms(_ check: Check) async throws { try await Self.suite.verify(check) }

    /// Returns the path of an executable in the same folder as the test executable.
    private static func neighbour(_ name: String) -> String {
        let folder = Bundle.main.executableURL?.deletingLastPathComponent() ?? URL(fileURLWithPath: ".")
        return folder.appendingPathComponent(name).path
    }
}
