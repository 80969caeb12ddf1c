import Foundation
import SortedFileStore
import Testing
import TidelineConformance
import TidelineFaults
import TidelineStore

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

    /// A process that is being started briefly has the descriptors of this one.
    @Test("an opening that fails releases the lock while processes are being started") func failedOpening() throws {
        let folder = URL.temporaryDirectory.appending(path: "sorted-file-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("damaged".utf8).write(to: folder.appending(path: "entries"))
        let processes = Thread {
            for _ in 0..<200 {
                try? Process.run(URL(filePath: "/bin/ls"), arguments: ["/dev/null"]).waitUntilExit()
            }
        }
        processes.start()
        while !processes.isFinished {
            let error = #expect(throws: StoreError.self) { try SortedFileStore(path: folder.path) }
            try #require(error?.code != .locked)
        }
    }

    /// Returns the path of an executable in the same folder as the test executable.
    private static func neighbour(_ name: String) -> String {
        let folder = Bundle.main.executableURL?.deletingLastPathComponent() ?? URL(fileURLWithPath: ".")
        return folder.appendingPathComponent(name).path
    }
}
