import Testing
import TidelineStore
import TidelineTestStores
import TidelineConformance

/// After any upserts, merges, deletions, definitions, roll-backs and reopenings a store holds what a model in plain
/// Swift holds, and refuses what the model refuses.
///
/// `TIDELINE_TEST_SCRIPTS` sets how many scripts, `TIDELINE_TEST_STEPS` the steps of each, `TIDELINE_TEST_SEED` where to
/// begin. A failure shows the shortest script found as Swift.
@Suite struct RandomOperationTests {
    private static let seeds = TestSettings.seeds(TestSettings.number("SCRIPTS", default: 12))
    private static let steps = TestSettings.number("STEPS", default: 25)

    @Test(arguments: StoreKind.all, seeds)
    func aStoreHoldsWhatTheModelHolds(_ subject: StoreKind, _ seed: UInt64) {
        var scripts = RandomScript(seed: seed)
        let script = scripts.next(steps: Self.steps)
        guard ScriptRun.failure(of: script, on: subject) != nil else { return }
        let short = shrink(script, smaller: \.smaller) { ScriptRun.failure(of: $0, on: subject) != nil }
        let failure = ScriptRun.failure(of: short, on: subject) ?? "only sometimes"
        Issue.record("\(subject.testDescription), seed \(seed): \(failure)\n\(short)")
    }
}
