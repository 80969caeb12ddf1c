internal import TidelineStore

/// One read or write body's access to the store; over when the body is.
final class Session<Snapshot: KeyValueSnapshot> {
    private let openMap: KeyMap<Snapshot>
    private var isOver = false
    let catalog: Catalog
    let isWriting: Bool
    /// The error of a change that was made in part: the transaction can only be dropped then.
    private(set) var failure: StoreError?
    /// The numbers of rows that this transaction knows, by the spaces of the rows.
    private var rowCounts: [KeySpace: (table: StoredTable, count: Int)] = [:]

    init(_ map: KeyMap<Snapshot>, _ catalog: Catalog, isWriting: Bool) {
        openMap = map
        self.catalog = catalog
        self.isWriting = isWriting
    }

    func end() { isOver = true }

    /// The map, while the body runs and no change has failed: after that, nothing is asked of an engine.
    func map() throws(StoreError) -> KeyMap<Snapshot> {
        if let failure { throw failure }
        guard !isOver else {
            throw StoreError(.closed, "a reader or writer was used after the body it was passed to")
        }
        return openMap
    }

    func table(_ name: String) throws(StoreError) -> StoredTable {
        _ = try map()
        return try catalog.table(name)
    }

    // MARK: Reading

    func withRow<T>(in name: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        let map = try map()
        let table = try catalog.table(name)
        var key = KeyBuilder(table.rows)
        guard key.append(id: id, of: table.ids) else { return nil }
        let reader = RowReader(table)
        return try key.bytes.withUnsafeBytes { key in
            guard isWriting else {
                return try map.get(key) { try reader.withRow(key: key, value: $0, body) }
            }
            // The body may change the table, and with it the memory that the engine lends.
            guard let value = try map.get(key, { Array($0) }) else { return nil }
            return try value.withUnsafeBytes { try reader.withRow(key: key, value: $0, body) }
        }
    }

    func scan(_ query: Query, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        let (run, table) = try run(query)
        return try run.scan(rowCount: { try rowCount(of: table) }, body)
    }

    func count(_ query: Query) throws -> Int {
        let (run, table) = try run(query)
        return try run.count(rowCount: { try rowCount(of: table) })
    }

    func plan(for query: Query) throws -> QueryPlan { try run(query).0.plan }

    private func run(_ query: Query) throws -> (QueryRun, StoredTable) {
        let map = try map()
        let table = try catalog.table(query.table)
        return (try QueryRun(query, table: table, map: map, isWriting: isWriting), table)
    }

    private func rowCount(of table: StoredTable) throws -> Int {
        if let known = rowCounts[table.rows] { return known.count }
        return try map().rowCount(of: table)
    }
}

// MARK: - Writing

extension Session where Snapshot: KeyValueTransaction {
    func upsert(_ rows: borrowing PackedRows, into name: String) throws {
        try changing { map in
            let table = try catalog.table(name)
            guard !rows.isEmpty else { return }
            let upsert = try Upsert(into: table, of: rows.shape, in: map)
            // What was inserted before a failure counts for nothing, as the transaction is dropped.
            try rows.forEachRow { try upsert.run($0) }
            try changeRowCount(of: table, by: upsert.insertedCount)
        }
    }

    func delete(ids: [RowID], from name: String) throws -> Int {
        try changing { map in
            let table = try catalog.table(name)
            var removal = Removal(from: table, in: map)
            var key = KeyBuilder(table.rows)
            for id in ids {
                key.begin(table.rows)
                guard key.append(id: id, of: table.ids) else { continue }
                try key.bytes.withUnsafeBytes { try removal.remove(key: $0) }
            }
            try changeRowCount(of: table, by: -removal.count)
            return removal.count
        }
    }

    func delete(matching query: Query) throws -> Int {
        let map = try map()
        let table = try catalog.table(query.table)
        // A query that is refused has changed nothing.
        let run = try QueryRun(query, table: table, map: map, isWriting: true)
        return try changing { map in
            var removal = Removal(from: table, in: map)
            try run.matchingIDs().forEachKey { try removal.remove(key: $0) }
            try changeRowCount(of: table, by: -removal.count)
            return removal.count
        }
    }

    /// Writes what is written once for the whole transaction.
    func finish() throws {
        let map = try map()
        for (table, count) in rowCounts.values { try map.writeRowCount(count, of: table) }
    }

    private func changeRowCount(of table: StoredTable, by difference: Int) throws {
        guard difference != 0 else { return }
        let (count, overflow) = try rowCount(of: table).addingReportingOverflow(difference)
        guard !overflow, count >= 0 else {
            throw StoreError(.corrupt, "the number of rows is damaged", table: table.name)
        }
        rowCounts[table.rows] = (table, count)
    }

    /// Runs a change; when it fails, so does the transaction, even if the body passes over the error.
    private func changing<T>(_ change: (KeyMap<Snapshot>) throws -> T) throws -> T {
        let map = try map()
        do {
            return try change(map)
        } catch {
            // A table that does not exist was not changed in part.
            let failure = (error as? StoreError) ?? StoreError(.io, "\(error)", cause: error)
            if failure.code != .noSuchTable { self.failure = failure }
            throw failure
        }
    }
}
