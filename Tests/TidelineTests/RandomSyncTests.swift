import Foundation
import Testing
import TidelineTestStores

@testable import Tideline

/// Invariants of the sync core with random edits, faults and changes by other clients.
///
/// The environment variable `TIDELINE_SYNC_SEEDS` sets the number of seeds, `TIDELINE_SYNC_SEED` runs a single seed,
/// and `TIDELINE_SYNC_STORE=memory` uses a single kind of store.
@Suite("Random sync", .timeLimit(.minutes(600)))
struct RandomSyncTests {
    private static let environment = ProcessInfo.processInfo.environment
    static let seeds: ClosedRange<UInt64> =
        environment["TIDELINE_SYNC_SEED"].flatMap { UInt64($0) }.map { $0...$0 }
        ?? 1...max(1, environment["TIDELINE_SYNC_SEEDS"].flatMap { UInt64($0) } ?? 40)

    static let stores = StoreKind.perEngine.filter { kind in
        environment["TIDELINE_SYNC_STORE"].map { $0 == kind.testDescription } ?? true
    }

    @Test(
        "No edit is lost, nothing is overwritten unseen, the queues become empty, and all replicas are equal",
        arguments: stores)
    func invariants(_ stores: StoreKind) async throws {
        for seed in Self.seeds {
            let failures: [String]
            do {
                failures = try await RandomSync(seed: seed, stores: stores).run()
            } catch {
                failures = ["\(error)"]
            }
            if !failures.isEmpty {
                Issue.record("seed \(seed):\n\(failures.joined(separator: "\n"))")
                break
            }
        }
    }
}
