internal import TidelineStore

extension Check {
    /// Random queries over random rows compared with the evaluator, shrunk if they fail.
    static let modelQueries: [Check] = [
        Check(
            "MOD-101", "Random queries over random tables are answered like the evaluator does",
            why:
                "Nodes that work separately may fail in combination: a null under `not` under `or`, in an index range.",
            tier: .stress
        ) { context in
            try context.everyRandomTable(6, rows: 100) { table in
                for _ in 0..<60 { try table.ask(table.nextQuery()) }
            }
        },
        Check(
            "MOD-102", "Random queries that an index can serve are answered as without it",
            why:
                "Points, ranges, and orders along an index, several conditions on a column, disjoint ranges.",
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
