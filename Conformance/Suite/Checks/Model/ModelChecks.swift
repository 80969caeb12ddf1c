internal import TidelineStore

extension Check {
    /// Random operations and limits.
    static let model: [Check] = [
        modelScripts, modelPaths, modelLimits, modelQueryLimits, modelQueries,
    ].flatMap { $0 }

    /// Random operations compared with a model.
    static let modelScripts: [Check] = [
        Check(
            "MOD-001",
            "After any changes, errors, and definitions, a store holds the same content as a model in plain Swift",
            why: "Random combinations find errors of interaction. A failure is shrunk to a short script.",
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
            why: "The dump of a store is compared with that of the suite's model, as those of all stores are.",
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

    /// Random queries over random rows compared with the evaluator, shrunk if they fail.
    static let modelQueries: [Check] = [
        Check(
            "MOD-101", "Random queries over random tables are answered like the evaluator does",
            why: "Nodes that work alone may fail in combination: a null under `not` under `or`, in an index range.",
            tier: .stress
        ) { context in
            try context.everyRandomTable(6, rows: 100) { table in
                for _ in 0..<60 { try table.ask(table.nextQuery()) }
            }
        },
        Check(
            "MOD-102", "Random queries that an index can serve are answered as without it",
            why: "Points, ranges, and orders along an index, several conditions on a column, disjoint ranges.",
            tier: .stress
        ) { context in
            try context.everyRandomTable(6, rows: 150) { table in
                for _ in 0..<60 { try table.ask(table.nextIndexedQuery()) }
            }
        },
        Check(
            "MOD-103", "Random queries within a write see its random changes, and none of them after a rollback",
            why: "Uncommitted changes are stored separately from committed rows and must be merged in order.",
            tier: .stress
        ) { context in
            try context.everyRandomTable(6, rows: 100) { table in
                for round in 0..<3 {
                    try table.change(asking: 12, commits: round == 1) { $0.nextIndexedQuery() }
                    for _ in 0..<8 { try table.ask(table.nextIndexedQuery()) }
                    try table.change(asking: 6, commits: round == 2) { $0.nextQuery() }
                }
            }
        },
        Check(
            "MOD-104", "Random deletions by query delete the rows that the query finds and keep the others",
            why: "A deletion that iterates over the index it modifies may skip rows or leave entries behind.",
            tier: .stress
        ) { context in
            try context.everyRandomTable(6, rows: 100) { table in
                for number in 0..<16 {
                    try table.delete(number % 2 == 0 ? table.nextIndexedQuery() : table.nextQuery(), commits: false)
                }
                for _ in 0..<6 {
                    try table.delete(table.nextIndexedQuery(), commits: true)
                    try table.change { $0.nextIndexedQuery() }
                    for _ in 0..<4 { try table.ask(table.nextIndexedQuery()) }
                }
            }
        },
        Check(
            "MOD-105",
            "After many random writes, and after reopening, random queries are answered correctly",
            why: "An index may drift from its rows one entry at a time; caches are empty after reopening.",
            tier: .stress
        ) { context in
            try context.everyRandomTable(4, rows: 100) { table in
                for round in 0..<8 {
                    try table.change(commits: true) { $0.nextQuery() }
                    if round % 4 == 3 { try table.reopen() }
                    for _ in 0..<6 { try table.ask(table.nextIndexedQuery()) }
                }
            }
        },
        Check(
            "MOD-106", "Random queries read in pages return every row once, in the evaluator's order", tier: .stress
        ) { context in
            try context.everyRandomTable(4, rows: 60) { table in
                for size in [1, 7, 25] {
                    try table.askPaged(table.nextIndexedQuery(), size: size)
                    try table.askPaged(table.nextQuery(), size: size)
                }
            }
        },
    ]
}
