internal import TidelineStore

extension Check {
    /// Random operations beside a model.
    static let modelScripts: [Check] = [
        Check(
            "MOD-001",
            "After any changes, throws, refusals and definitions a store holds what a model in plain Swift holds",
            why:
                "Several tables, several changes in a transaction, merges, deletions, swallowed errors, definitions that "
                + "evolve: what goes wrong only together is found by many tries. A failure is shrunk to a short script.",
            tier: .stress
        ) { trial in
            var options = RandomScript.Options(trial.capabilities)
            (options.reopens, options.holds) = (false, false)
            try ScriptSearch(trial, "MOD001").run(seeds: seeds(trial, 8, from: 0), steps: 25, options: options)
        },
        Check(
            "MOD-002", "The same holds when the store is closed and opened again in between",
            why: "What is right in memory may have been written down otherwise.", tier: .stress, needs: [.persistence]
        ) { trial in
            var options = RandomScript.Options(trial.capabilities)
            options.holds = false
            try ScriptSearch(trial, "MOD002").run(seeds: seeds(trial, 6, from: 1_000), steps: 25, options: options)
        },
        Check(
            "MOD-003",
            "The same holds for a reader on another thread that keeps its version while the operations go on",
            why: "A version kept for a reader must survive every kind of change after it.", tier: .stress,
            needs: [.readersBesideWriter]
        ) { trial in
            let options = RandomScript.Options(trial.capabilities)
            try ScriptSearch(trial, "MOD003").run(seeds: seeds(trial, 6, from: 2_000), steps: 25, options: options)
        },
        Check(
            "MOD-004", "The same operations leave the same contents in every store, to the last byte",
            why: "The dump of a store is compared with that of the suite's own model, which every other store is "
                + "compared with, too.", tier: .stress
        ) { trial in
            let stage = ScriptStage(trial)
            for seed in seeds(trial, 3, from: 3_000) {
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

    /// So many seeds for each round; another seed of the run gives others.
    private static func seeds(_ trial: Trial, _ count: Int, from start: UInt64) -> [UInt64] {
        (0..<UInt64(count * trial.rounds)).map { trial.seed &* 10_000 &+ start &+ $0 }
    }
}
