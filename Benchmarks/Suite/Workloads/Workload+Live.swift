#if Commands
internal import TidelineStore

extension StoreWorkloads {
    /// Commits of one row under live queries.
    var live: [Workload] {
        [
            liveCommits("live-none", "no live query", others: 0),
            liveCommits("live-1000", "1,000 live queries, one of which matches", others: 999, watching: true),
            liveCommits("live-others-1000", "1,000 live queries that do not match", others: 1_000),
            liveCommits("live-others-10000", "10,000 live queries that do not match", others: 10_000),
            liveView,
        ]
    }

    private func liveCommits(_ id: String, _ title: String, others: Int, watching: Bool = false) -> Workload {
        let list = indexed.filter(0).list
        let changed = changes { ["list": .string(list), "rank": .int(-Int64($0))] }
        // The index of the table finds that no row matches, so that ten thousand queries start in seconds. Live queries
        // are found by the list or by the score.
        let queries = (0..<others).map { number in
            let condition: RowPredicate =
                number % 2 == 0
                ? .column("list") == .literal(.string("nobody's list \(number)"))
                : .column("list") == .literal(.null)
                    && .column("score").isBetween(
                        .literal(.double(-2.0 * Double(number))), and: .literal(.double(-1)))
            return TableQuery(indexed.table.schema.name).filter(condition).order(by: "rank").limit(50)
        }
        // Each changed row becomes the first of the list.
        let watched = indexed.filter(0).query(indexed.table)
        return liveWorkload(
            id, "commit of one row, \(title)",
            explanation: watching
                ? "Changes a row in its own transaction and takes the update of the live query that it concerns."
                : "Changes a row in its own transaction.",
            queries, watched: watching ? watched : nil, changed)
    }

    private var liveView: Workload {
        liveWorkload(
            "live-view", "commit of one row under an ordered view of all rows",
            explanation:
                "Gives a row another place in a live query of all rows, ordered by rank, and takes the update.",
            [], watched: TableQuery(indexed.table.schema.name).order(by: "rank"),
            changes { ["rank": .int(Int64(truncatingIfNeeded: $0 &* 0x1E37_79B9_7F4A_7C15) >> 2)] })
    }

    private func liveWorkload(
        _ id: String, _ title: String, explanation: String, _ queries: [TableQuery], watched: TableQuery?, _ rows: [Row]
    ) -> Workload {
        Workload(
            id, .live, title, explanation: explanation, unit: "commit", units: rows.count,
            start: .loaded(indexed.table),
            prepare: { [.sync(.live(.start(queries, watched: watched)))] },
            steps: [{ [.sync(.live(.commit(rows)))] }],
            restore: { [.sync(.live(.stop)), try writing(changedRows, of: indexed)] })
    }

    private var changedRows: [Int] { spread(operations(1_000)) }

    /// Returns a change of some rows.
    private func changes(_ columns: (Int) -> Row) -> [Row] {
        changedRows.map { Row(id: indexed.id($0)).merging(columns($0 + 1)) }
    }
}
#endif
