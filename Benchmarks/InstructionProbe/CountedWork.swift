internal import TidelineBenchmark
internal import TidelineStore

/// A work whose instructions are counted, and what the count is divided by.
struct CountedWork: Sendable {
    /// The name in the table and in the record.
    let id: String
    /// Whether the table has an index for the work.
    var isIndexed = false
    /// Whether the database holds all rows before.
    var isLoaded = true
    /// The work, with what the count is divided by.
    let make: @Sendable (_ source: RowSource, _ rows: Int) throws -> Measured

    /// A work and its units: a count of so many instructions for one of them is told.
    struct Measured {
        let work: Work
        let units: Int
        /// How many rows the work must come to; the units unless told otherwise.
        var answer: Int?
    }

    /// The works, on a database of 2000 rows or of as many as are asked for.
    static let all = writing + reading + queries + [deleteIDs]

    private static let writing: [CountedWork] = [
        CountedWork(id: "upsert-packed", isLoaded: false) { source, rows in
            Measured(work: .upsert(try source.batches(0..<rows, of: batch)), units: rows)
        },
        CountedWork(id: "upsert-rows", isLoaded: false) { source, rows in
            Measured(work: .upsertRows(try source.batches(0..<rows, of: batch, asRows: true)), units: rows)
        },
        CountedWork(id: "re-upsert") { source, rows in
            Measured(work: .upsert(try source.batches(0..<rows, of: batch)), units: rows)
        },
        CountedWork(id: "commit") { source, rows in
            let commits = rows / 20
            return Measured(work: .upsert(try source.batches(rows..<rows + commits, of: 1)), units: commits)
        },
    ]

    private static let reading: [CountedWork] = [
        CountedWork(id: "get-view") {
            Measured(work: .get(ids: $0.ids($1), access: .view, transaction: .one), units: $1)
        },
        CountedWork(id: "get-row") {
            Measured(work: .get(ids: $0.ids($1), access: .row, transaction: .one), units: $1)
        },
        CountedWork(id: "get-each") {
            Measured(work: .get(ids: $0.ids($1), access: .view, transaction: .each), units: $1)
        },
        CountedWork(id: "scan-view") { Measured(work: .scan(.view), units: $1) },
        CountedWork(id: "scan-typed") { Measured(work: .scan(.typed), units: $1) },
        CountedWork(id: "scan-row") { Measured(work: .scan(.row), units: $1) },
    ]

    /// One unit is a query: with an index it looks at the rows of its list, without one at all of them.
    private static let queries: [CountedWork] = [
        CountedWork(id: "find-indexed", isIndexed: true) { try find($0, $1, queries: 50) },
        CountedWork(id: "find-plain") { try find($0, $1, queries: 5) },
        CountedWork(id: "count-indexed", isIndexed: true) { try count($0, $1, queries: 50) },
        CountedWork(id: "count-plain") { try count($0, $1, queries: 5) },
    ]

    private static let deleteIDs = CountedWork(id: "delete-ids") { source, rows in
        let ids = source.ids(rows)
        let lists = stride(from: 0, to: rows, by: batch).map { Array(ids[$0..<min($0 + batch, rows)]) }
        return Measured(work: .delete(lists), units: rows)
    }

    private static let batch = 1000
    private static let limit = 50

    private static func find(_ source: RowSource, _ rows: Int, queries: Int) throws -> Measured {
        let lists = (0..<queries).map { $0 % source.lists }
        let found = source.rowsOfLists(rows)
        return Measured(
            work: .find(lists.map { source.filter($0) }, limit: limit), units: queries,
            answer: lists.reduce(0) { $0 + min(found[source.filter($1).list] ?? 0, limit) })
    }

    private static func count(_ source: RowSource, _ rows: Int, queries: Int) throws -> Measured {
        let lists = (0..<queries).map { $0 % source.lists }
        let found = source.rowsOfLists(rows)
        return Measured(
            work: .count(lists.map { source.filter($0) }), units: queries,
            answer: lists.reduce(0) { $0 + (found[source.filter($1).list] ?? 0) })
    }
}

extension RowSource {
    /// The ids of all rows; being random, they are anywhere in the table's order.
    fileprivate func ids(_ rows: Int) -> [RowID] { (0..<rows).map { id($0) } }

    /// How many rows there are of each list.
    fileprivate func rowsOfLists(_ rows: Int) -> [String: Int] {
        (0..<rows).reduce(into: [:]) { counts, index in
            guard case .string(let list) = values(index)[1] else { return }
            counts[list, default: 0] += 1
        }
    }
}
