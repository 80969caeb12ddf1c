import Foundation
import Testing
import TidelineLive
import TidelineStore
import TidelineTestStores

/// Compares the results of live queries with those of the same queries asked afresh.
///
/// `TIDELINE_LIVE_SEED` sets the first seed, `TIDELINE_LIVE_WRITES` the number of written rows for each store.
@Suite("Live queries compared with fresh queries")
struct OracleTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["TIDELINE_LIVE_\(name)"].flatMap { UInt64($0) }
    }

    @Test("After random writes, each result equals that of a new query", arguments: StoreKind.perEngine)
    func resultsAreThoseOfNewQueries(_ kind: StoreKind) throws {
        let capabilities = try kind.withStore { $0.capabilities }
        let wanted = Int(Self.number("WRITES") ?? 4_000)
        var (seed, written) = (Self.number("SEED") ?? 1, 0)
        while written < wanted {
            let oracle = LiveOracle(seed: seed, capabilities: capabilities, writes: 100, queries: 24)
            if let failure = try oracle.shrunkFailure(over: kind) {
                Issue.record("\(failure)")
                return
            }
            written += oracle.writeCount
            seed += 1
        }
    }
}
