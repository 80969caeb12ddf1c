import Testing
import TidelineConformance
import TidelineStore

@Suite struct BrokenStoreTests {
    /// Checks that find a mistake say so within this time; one that hangs is a finding, too.
    private static let settings = ConformanceSettings(rows: 2_000, timeLimit: .seconds(20))

    static let plain = ConformanceSuite(
        StoreHarness(modes: [.existing, .readOnly, .limitedSize]) { try PlainStore($0) }, settings: settings)

    @Test(arguments: plain.checks)
    func aStoreWithoutAMistakeIsNotFlagged(_ check: Check) async throws { try await Self.plain.verify(check) }
}
