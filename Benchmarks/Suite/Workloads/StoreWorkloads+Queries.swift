internal import TidelineStore

extension StoreWorkloads {
    var queries: [Workload] { [find(indexed), find(source), count(indexed), count(source)] }

    private static let limit = 50

    /// How many queries are done: each looks at all rows where there is no index.
    private func count(of source: RowSource) -> Int {
        operations(source.table.isIndexed ? 500 : min(max(1_000_000 / rows, 1), 50))
    }

    private func filters(_ source: RowSource) -> [RowFilter] {
        var random = random(2)
        return (0..<count(of: source)).map { _ in source.filter(Int.random(in: 0..<source.lists, using: &random)) }
    }

    private func find(_ source: RowSource) -> Workload {
        let index = source.table.isIndexed ? "with an index" : "without an index"
        return Workload(
            source.table.isIndexed ? "find-index" : "find-plain", .queries,
            "filter, order, first \(Self.limit), \(index)",
            explanation: """
                The first \(Self.limit) rows of one of \(source.lists) lists in the order of another column, read where \
                they lie, \(index) over both columns.
                """,
            unit: "query", units: count(of: source), isQuick: true, start: .loaded(source.table),
            steps: [{ [.find(filters(source), limit: Self.limit)] }])
    }

    private func count(_ source: RowSource) -> Workload {
        let index = source.table.isIndexed ? "with an index" : "without an index"
        return Workload(
            source.table.isIndexed ? "count-index" : "count-plain", .queries, "count of a filter, \(index)",
            explanation: "How many rows are in one of \(source.lists) lists, \(index) that begins with the list.",
            unit: "query", units: count(of: source), start: .loaded(source.table),
            steps: [{ [.count(filters(source))] }])
    }
}
