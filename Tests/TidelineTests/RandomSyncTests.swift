import Foundation
import Testing
import TidelineTestStores

@testable import Tideline

/// The invariants of the sync core under random edits, faults and changes by others.
///
/// In the environment `TIDELINE_SYNC_SEEDS` says how many seeds are tried, `TIDELINE_SYNC_SEED` tries one alone,
/// `TIDELINE_SYNC_STORE=memory` tries one kind of store.
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
        "No edit is lost, nothing is overwritten unseen, the queues empty, and all replicas are equal",
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
