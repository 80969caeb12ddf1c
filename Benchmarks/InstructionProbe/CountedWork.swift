internal import TidelineBenchmark
internal import TidelineStore

/// A work whose instructions are counted, and what the count is divided by.
struct CountedWork: Sendable {
    /// The name in the table and in the record.
    let id: String
    /// What the count is divided by, of a run of so many rows.
    var units: @Sendable (_ rows: Int) -> Int = { $0 }
    /// How many rows the work's answer must tell of; the units unless told otherwise.
    var answer: (@Sendable (_ rows: Int) -> Int)?
    /// Whether the table has an index for the work.
    var isIndexed = false
    /// What is done before, uncounted.
    var prepare: Maker = loaded
    /// The work.
    let make: @Sendable (_ source: RowSource, _ rows: Int) throws -> Work

    typealias Maker = @Sendable (_ source: RowSource, _ rows: Int) throws -> [Work]

    /// How many rows the work's answer must tell of.
    func expected(_ rows: Int) -> Int { (answer ?? units)(rows) }

    /// Whether the subject does it.
    func isDone(by subject: ProbeSubject) -> Bool { true }

    /// An empty table.
    private static let empty: Maker = { _, _ in [] }

    /// All rows, in their files rather than where they were written to first: the database was closed and opened. They have
    /// been read once, so that what is kept in memory is there.
    private static let loaded: Maker = { source, rows in
        [
            .upsert(try source.batches(0..<rows, of: 1000)), .reopen(times: 1, id: source.id(0)), .scan(.view),
            .get(ids: ids(source, rows), access: .view, transaction: .one),
        ]
    }

    /// The ids of all rows; being random, they are anywhere in the table's order.
    private static func ids(_ source: RowSource, _ rows: Int) -> [RowID] { (0..<rows).map { source.id($0) } }

    static let all: [CountedWork] = [
        CountedWork(id: "upsert-packed", prepare: empty) { .upsert(try $0.batches(0..<$1, of: 1000)) },
        CountedWork(id: "upsert-rows", prepare: empty) { .upsertRows(try $0.batches(0..<$1, of: 1000, asRows: true)) },
        CountedWork(id: "re-upsert") { .upsert(try $0.batches(0..<$1, of: 1000)) },
        CountedWork(id: "get-view") { .get(ids: ids($0, $1), access: .view, transaction: .one) },
        CountedWork(id: "get-row") { .get(ids: ids($0, $1), access: .row, transaction: .one) },
        CountedWork(id: "scan-view") { _, _ in .scan(.view) },
        CountedWork(id: "scan-typed") { _, _ in .scan(.typed) },
        CountedWork(id: "scan-row") { _, _ in .scan(.row) },
        CountedWork(id: "delete-ids") { source, rows in
            .delete(stride(from: 0, to: rows, by: 1000).map { start in
                (start..<min(start + 1000, rows)).map { source.id($0) }
            })
        },
        CountedWork(id: "commit", units: commits) { source, rows in
            .upsert(try source.batches(rows..<rows + commits(rows), of: 1))
        },
    ]

    @Sendable private static func commits(_ rows: Int) -> Int { rows / 20 }
}
