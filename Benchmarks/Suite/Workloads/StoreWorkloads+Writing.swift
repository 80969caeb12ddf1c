#if Commands
internal import TidelineStore

extension StoreWorkloads {
    var writing: [Workload] {
        [
            bulkUpsert, bulkUpsertInOne, bulkUpsertOfRecords, bulkUpsertOfRows, bulkUpsertIndexed, reupsert, commit,
            largeWrite,
        ]
    }

    private var bulkUpsert: Workload {
        Workload(
            "upsert-packed", .writing, "bulk upsert, packed rows, \(settings.batch) a transaction",
            explanation: """
                Writes all rows to an empty table from packed batches, as a pull does, \(settings.batch) rows in each \
                transaction.
                """,
            unit: "row", units: rows, isQuick: true, start: .empty(source.table), steps: writingAll(of: source))
    }

    private var bulkUpsertInOne: Workload {
        let count = min(rows, Self.maxRows)
        return Workload(
            "upsert-packed-one", .writing, "bulk upsert, packed rows, \(count) in one transaction",
            explanation: "Writes rows to an empty table from one packed batch, in a single transaction.",
            unit: "row", units: count, start: .empty(source.table),
            steps: [{ [source] in [.upsert([try source.batch(Array(0..<count))])] }])
    }

    private var bulkUpsertOfRecords: Workload {
        Workload(
            "upsert-records", .writing, "bulk upsert, records, \(settings.batch) a transaction",
            explanation: """
                Writes all rows to an empty table from records, the app's type for a row, \(settings.batch) in each \
                transaction. A subject without records writes packed rows.
                """,
            unit: "row", units: rows, start: .empty(source.table),
            steps: parts.map { part in
                { [source, settings] in [.upsertRecords(try source.recordBatches(part, of: settings.batch))] }
            })
    }

    private var bulkUpsertOfRows: Workload {
        Workload(
            "upsert-rows", .writing, "bulk upsert, Row values, \(settings.batch) a transaction",
            explanation: """
                Writes all rows to an empty table from Row values, \(settings.batch) rows in each transaction. A subject \
                without such values writes packed rows.
                """,
            unit: "row", units: rows, start: .empty(source.table), steps: writingAll(of: source, asRows: true))
    }

    private var bulkUpsertIndexed: Workload {
        Workload(
            "upsert-indexed", .writing, "bulk upsert into a table with an index",
            explanation: """
                Writes all rows to an empty table with an index over two columns, from packed batches of \
                \(settings.batch) rows, each in its own transaction.
                """,
            unit: "row", units: rows, start: .empty(indexed.table), steps: writingAll(of: indexed))
    }

    private var reupsert: Workload {
        let indexes = spread(rows)
        let size = settings.batch
        return Workload(
            "reupsert", .writing, "upsert of existing rows, \(size) a transaction",
            explanation: """
                Writes whole rows from all over the table again with another text, from packed batches of \(size) rows, each \
                in its own transaction.
                """,
            unit: "row", units: indexes.count, start: .loaded(source.table),
            steps: [
                { [source] in [.upsert(try source.batches(indexes, of: size) { source.text($0, revision: 1) })] }
            ],
            restore: { [try writing(indexes, of: source)] })
    }

    private var commit: Workload {
        let new = rows..<rows + operations(settings.isQuick ? 100 : 300)
        return Workload(
            "commit", .writing, "one row, one commit",
            explanation: """
                Writes new rows one by one, each in its own transaction: the cost of making a change durable, at the store's \
                level of durability.
                """,
            unit: "commit", units: new.count, isQuick: true, start: .loaded(source.table),
            steps: [{ [source] in [.upsert(try source.batches(new, of: 1))] }], restore: { [deleting(new)] })
    }

    // MARK: Large values

    /// New rows with a text of one megabyte.
    private var large: Range<Int> { rows..<rows + operations(16) }

    private func makeLarge() throws -> Work {
        .upsert(try source.batches(Array(large), of: 1) { source.text($0, size: 1 << 20) })
    }

    private var largeWrite: Workload {
        Workload(
            "large-write", .writing, "values of 1 MB",
            explanation: "Writes new rows with a text of 1 MB, each in its own transaction.",
            unit: "row", units: large.count, start: .loaded(source.table), steps: [{ [try makeLarge()] }],
            restore: { [deleting(large)] })
    }

    /// Reads the rows of ``largeWrite``.
    var largeRead: Workload {
        Workload(
            "large-read", .reading, "get of values of 1 MB",
            explanation: "Reads rows with a text of 1 MB in place, each in its own transaction.",
            unit: "row", units: large.count, start: .loaded(source.table), prepare: { [try makeLarge()] },
            steps: [{ [.get(ids: large.map { source.id($0) }, access: .view, transaction: .each)] }],
            restore: { [deleting(large)] })
    }

    // MARK: Deleting

    var deleting: [Workload] { [deleteByIDs, deleteByQuery] }

    private var deleteByIDs: Workload {
        let indexes = spread(rows / 10)
        let size = settings.batch
        return Workload(
            "delete-ids", .deleting, "delete by ids, \(size) a transaction",
            explanation: """
                Deletes a tenth of the rows, at most \(Self.maxRows), from all over the table by id, \(size) in each \
                transaction.
                """,
            unit: "row", units: indexes.count, isQuick: true, start: .loaded(source.table),
            steps: [
                { [source] in
                    [.delete(indexes.indices.parts(of: size).map { part in indexes[part].map { source.id($0) } })]
                }
            ],
            restore: { [try writing(indexes, of: source)] })
    }

    private var deleteByQuery: Workload {
        let lists = 0..<min(indexed.lists, 5)
        return Workload(
            "delete-query", .deleting, "delete by a query, with an index",
            explanation: """
                Deletes all rows of one of \(indexed.lists) lists with a query that uses an index, each list in its own \
                transaction.
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
                    Closes and opens the database, defines its table, and reads a row, as an app does at launch.
                    """,
                unit: "opening", units: times, start: .loaded(source.table),
                steps: [{ [source] in [.reopen(times: times, id: source.id(rows / 2))] }])
        ]
    }
}
#endif
