internal import TidelineStore

extension Check {
    /// Random operations and limits.
    static let model: [Check] = [
        modelScripts, modelPaths, modelLimits, modelQueries,
    ].flatMap { $0 }

    /// Random operations compared with a model.
    static let modelScripts: [Check] = [
        Check(
            "MOD-001",
            "After any changes, errors, and definitions, a store holds the same content as a model in plain Swift",
            why:
                "Several tables, several changes in a transaction, merges, deletions, caught errors, evolving definitions: "
                + "random combinations find errors of interaction. A failure is shrunk to a short script.",
            tier: .stress
        ) { context in
            var options = RandomScript.Options(context.capabilities)
            (options.reopens, options.holds) = (false, false)
            try ScriptSearch(context, "MOD001").run(seeds: seeds(context, 8, from: 0), steps: 25, options: options)
        },
        Check(
            "MOD-002", "The same holds if the store is closed and reopened in between",
            why: "Correct data in memory may be written incorrectly.", tier: .stress, needs: [.persistence]
        ) { context in
            var options = RandomScript.Options(context.capabilities)
            options.holds = false
            try ScriptSearch(context, "MOD002").run(seeds: seeds(context, 6, from: 1_000), steps: 25, options: options)
        },
        Check(
            "MOD-003",
            "The same holds for a reader on another thread that keeps its snapshot during the operations",
            why: "A reader's snapshot must survive every kind of later change.", tier: .stress,
            needs: [.readersBesideWriter]
        ) { context in
            let options = RandomScript.Options(context.capabilities)
            try ScriptSearch(context, "MOD003").run(seeds: seeds(context, 6, from: 2_000), steps: 25, options: options)
        },
        Check(
            "MOD-004", "The same operations produce the same content in every store, to the last byte",
            why:
                "The dump of a store is compared with that of the suite's own model, to which all stores are compared.",
            tier: .stress
        ) { context in
            let stage = ScriptStage(context)
            for seed in seeds(context, 3, from: 3_000) {
                var scripts = RandomScript(seed: seed, options: .common)
                let script = scripts.next(steps: 40)
                let failure = try ScriptRun.failure(of: script, on: stage) { store, model in
                    let (found, expected) = (try StoreDump(of: store), try StoreDump(of: model))
                    guard found != expected else { return }
                    throw CheckFailure(
                        "digest \(found.digest), expected \(expected.digest): \(found.difference(expected))")
                }
                if let failure { throw CheckFailure("seed \(seed): \(failure.message)") }
            }
        },
    ]

    /// Returns seeds for each round, which depend on the seed of the run.
    private static func seeds(_ context: CheckContext, _ count: Int, from start: UInt64) -> [UInt64] {
        (0..<UInt64(count * context.rounds)).map { context.seed &* 10_000 &+ start &+ $0 }
    }
}
