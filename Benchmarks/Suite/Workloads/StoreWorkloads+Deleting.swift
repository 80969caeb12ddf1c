internal import TidelineStore

extension StoreWorkloads {
    var deleting: [Workload] { [deleteByIDs, deleteByQuery] }

    private var deleteByIDs: Workload {
        let indexes = spread(rows / 10)
        let size = settings.batch
        return Workload(
            "delete-ids", .deleting, "delete by ids, \(size) a transaction",
            explanation: """
                A tenth of the rows, at most \(Self.most), from all over the table, is deleted by id, \(size) in each \
                transaction.
                """,
            unit: "row", units: indexes.count, isQuick: true, start: .loaded(source.table),
            steps: [
                { [source] in
                    let lists = stride(from: 0, to: indexes.count, by: size).map { start in
                        indexes[start..<min(start + size, indexes.count)].map { source.id($0) }
                    }
                    return [.delete(lists)]
                }
            ],
            restore: { [try writing(indexes, of: source)] })
    }

    private var deleteByQuery: Workload {
        let lists = 0..<min(indexed.lists, 5)
        return Workload(
            "delete-query", .deleting, "delete by a query, with an index",
            explanation: """
                All rows of one of \(indexed.lists) lists are deleted by a query that an index helps, each list in a \
                transaction of its own.
                """,
            unit: "list", units: lists.count, start: .loaded(indexed.table),
            steps: [{ [indexed] in [.deleteMatching(lists.map { indexed.filter($0) })] }],
            restore: { [indexed] in
                [try writing((0..<rows).filter { lists.contains(indexed.list(of: $0)) }, of: indexed)]
            })
    }

    var opening: [Workload] {
        let times = operations(20)
        return [
            Workload(
                "reopen", .opening, "open, with the first read",
                explanation: """
                    The database is closed, opened again, its table defined, and a row read: what an app waits for when \
                    it starts.
                    """,
                unit: "opening", units: times, start: .loaded(source.table),
                steps: [{ [source] in [.reopen(times: times, id: source.id(rows / 2))] }])
        ]
    }
}
