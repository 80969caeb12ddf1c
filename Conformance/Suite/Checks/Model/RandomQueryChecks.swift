internal import TidelineStore

extension Check {
    /// Random queries over random rows beside the evaluator, shrunk where they fail.
    static let modelQueries: [Check] = [
        Check(
            "MOD-101", "Random queries over random tables are answered as the evaluator answers them",
            why:
                "Nodes that are right one by one go wrong together: a null under `not` under `or`, in an index' range.",
            tier: .stress
        ) { trial in
            try trial.everyRandomTable(6, rows: 100) { table in
                for _ in 0..<60 { try table.ask(table.nextQuery()) }
            }
        },
        Check(
            "MOD-102", "Random queries such as an index serves are answered as without one",
            why:
                "Points, ranges and orders along an index, several conditions on a column, ends that exclude each other.",
            tier: .stress
        ) { trial in
            try trial.everyRandomTable(6, rows: 150) { table in
                for _ in 0..<60 { try table.ask(table.nextIndexedQuery()) }
            }
        },
        Check(
            "MOD-103", "Random queries within a write see its random changes, and after a rollback none of them",
            why: "What was changed and is not committed lies elsewhere than what is: it must be merged in order.",
            tier: .stress
        ) { trial in
            try trial.everyRandomTable(6, rows: 100) { table in
                for round in 0..<3 {
                    try table.change(asking: 12, commits: round == 1) { $0.nextIndexedQuery() }
                    for _ in 0..<8 { try table.ask(table.nextIndexedQuery()) }
                    try table.change(asking: 6, commits: round == 2) { $0.nextQuery() }
                }
            }
        },
        Check(
            "MOD-104", "Random deletions by a query delete what the query finds, and what is left is found",
            why: "A deletion that walks the index which it changes leaves rows out, or leaves entries behind.",
            tier: .stress
        ) { trial in
            try trial.everyRandomTable(6, rows: 100) { table in
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
            "After many random writes, and when the store was opened again, random queries are answered right",
            why: "An index drifts from its rows by one entry at a time; what is cached is gone after reopening.",
            tier: .stress
        ) { trial in
            try trial.everyRandomTable(4, rows: 100) { table in
                for round in 0..<8 {
                    try table.change(commits: true) { $0.nextQuery() }
                    if round % 4 == 3 { try table.reopen() }
                    for _ in 0..<6 { try table.ask(table.nextIndexedQuery()) }
                }
            }
        },
        Check(
            "MOD-106", "Random queries read in pages give every row once, in the evaluator's order", tier: .stress
        ) { trial in
            try trial.everyRandomTable(4, rows: 60) { table in
                for size in [1, 7, 25] {
                    try table.askPaged(table.nextIndexedQuery(), size: size)
                    try table.askPaged(table.nextQuery(), size: size)
                }
            }
        },
    ]
}
