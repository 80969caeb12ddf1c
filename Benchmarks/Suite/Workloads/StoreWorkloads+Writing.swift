internal import TidelineStore

extension StoreWorkloads {
    var writing: [Workload] {
        [bulkUpsert, bulkUpsertInOne, bulkUpsertOfRows, bulkUpsertIndexed, reupsert, commit, largeWrite]
    }

    private var bulkUpsert: Workload {
        Workload(
            "upsert-packed", .writing, "bulk upsert, packed rows, \(settings.batch) a transaction",
            explanation: """
                All rows are written to an empty table from packed batches, as a pull does it, \(settings.batch) rows in \
                each transaction.
                """,
            unit: "row", units: rows, isQuick: true, start: .empty(source.table), steps: writingAll(of: source))
    }

    private var bulkUpsertInOne: Workload {
        let count = min(rows, Self.most)
        return Workload(
            "upsert-packed-one", .writing, "bulk upsert, packed rows, \(count) in one transaction",
            explanation: "Rows are written to an empty table from one packed batch, in a single transaction.",
            unit: "row", units: count, start: .empty(source.table),
            steps: [{ [source] in [.upsert([try source.batch(Array(0..<count))])] }])
    }

    private var bulkUpsertOfRows: Workload {
        Workload(
            "upsert-rows", .writing, "bulk upsert, Row values, \(settings.batch) a transaction",
            explanation: """
                All rows are written to an empty table from Row values, as an app makes them, \(settings.batch) rows in \
                each transaction. A subject without such values writes packed rows.
                """,
            unit: "row", units: rows, start: .empty(source.table), steps: writingAll(of: source, asRows: true))
    }

    private var bulkUpsertIndexed: Workload {
        Workload(
            "upsert-indexed", .writing, "bulk upsert into a table with an index",
            explanation: """
                All rows are written to an empty table with an index over two columns, from packed batches of \
                \(settings.batch) rows, each a transaction: what keeping the index costs.
                """,
            unit: "row", units: rows, start: .empty(indexed.table), steps: writingAll(of: indexed))
    }

    private var reupsert: Workload {
        let indexes = spread(rows)
        let size = settings.batch
        return Workload(
            "reupsert", .writing, "upsert of rows that are there, \(size) a transaction",
            explanation: """
                Rows all over the table are written again, whole and with another text, from packed batches of \(size) \
                rows, each a transaction.
                """,
            unit: "row", units: indexes.count, start: .loaded(source.table),
            steps: [
                { [source] in
                    [.upsert(try source.batches(indexes, of: size) { source.text($0, revision: 1) })]
                }
            ],
            restore: { [try writing(indexes, of: source)] })
    }

    private var commit: Workload {
        let new = rows..<rows + operations(settings.isQuick ? 100 : 300)
        return Workload(
            "commit", .writing, "one row, one commit",
            explanation: """
                New rows are written one by one, each in a transaction of its own: what it costs until a change is as safe \
                as the store's durability promises.
                """,
            unit: "commit", units: new.count, isQuick: true, start: .loaded(source.table),
            steps: [{ [source] in [.upsert(try source.batches(new, of: 1))] }], restore: { [deleting(new)] })
    }

    // MARK: Large values

    /// Rows whose text has a megabyte.
    private var large: Range<Int> { rows..<rows + operations(16) }

    private func makeLarge() throws -> Work {
        .upsert(try source.batches(Array(large), of: 1) { source.text($0, size: 1 << 20) })
    }

    private var largeWrite: Workload {
        Workload(
            "large-write", .writing, "values of 1 MB",
            explanation: "New rows with a text of 1 MB are written, each in a transaction of its own.",
            unit: "row", units: large.count, start: .loaded(source.table), steps: [{ [try makeLarge()] }],
            restore: { [deleting(large)] })
    }

    /// Reading what ``largeWrite`` writes.
    var largeRead: Workload {
        Workload(
            "large-read", .reading, "get of values of 1 MB",
            explanation: "Rows with a text of 1 MB are read by id where they lie, each in a transaction of its own.",
            unit: "row", units: large.count, start: .loaded(source.table), prepare: { [try makeLarge()] },
            steps: [{ [.get(ids: large.map { source.id($0) }, access: .view, transaction: .each)] }],
            restore: { [deleting(large)] })
    }
}
