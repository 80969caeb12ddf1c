#if Commands
internal import TidelineStore

extension StoreSession {
    /// Writes packed rows.
    func upsert(_ batches: [RowBatch], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        try latencies.each(batches) { batch in
            try now.store.write { try $0.upsert(batch.packed, into: table.schema.name) }
            return Answer(count: batch.packed.count)
        }
    }

    /// Writes `Row` values.
    func upsertRows(_ batches: [RowBatch], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        try latencies.each(batches) { batch in
            try now.store.write { try $0.upsert(batch.rows, into: table.schema.name) }
            return Answer(count: batch.rows.count)
        }
    }

    /// Writes records.
    func upsertRecords(_ batches: [RowBatch], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        try table.requireRecord()
        return try latencies.each(batches) { batch in
            try now.store.write { try $0.upsert(batch.records) }
            return Answer(count: batch.records.count)
        }
    }

    /// Deletes rows by identifier, each list in its own transaction.
    func delete(_ lists: [[RowID]], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        try latencies.each(lists) { ids in
            Answer(count: try now.store.write { try $0.delete(ids: ids, from: table.schema.name) })
        }
    }

    /// Deletes the rows of each query.
    func delete(matching filters: [RowFilter], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        try latencies.each(filters) { filter in
            // A deletion needs no order.
            let query = TableQuery(table.schema.name, predicate: filter.query(table).predicate)
            return Answer(count: try now.store.write { try $0.delete(matching: query) })
        }
    }

    /// Performs a mix of small operations, each in its own transaction.
    func mix(_ steps: [MixedStep], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        var runner = try MixRunner(self, now)
        for step in steps { try latencies.time { try runner.perform(step) } }
        return runner.answer
    }

    /// Performs the work of a sync client.
    func sync(_ work: SyncWork, _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        guard case .restart = work else { return try now.sync.perform(work, noting: latencies) }
        guard now.store.capabilities.isPersistent else { throw WorkNotApplicable("in memory only") }
        try now.store.close()
        return try latencies.time { try openAgain().sync.perform(work, noting: LatencySink()) }
    }
}

/// Performs the steps of a mix.
private struct MixRunner<Store: LocalStore>: ~Copyable {
    private let session: StoreSession<Store>
    private let now: StoreSession<Store>.Opened
    private let table: String
    private let text: Int
    /// A buffer for a row with only a text, reused for each change.
    private var change: PackedRows
    private(set) var answer = Answer()

    init(_ session: StoreSession<Store>, _ now: StoreSession<Store>.Opened) throws {
        self.session = session
        self.now = now
        table = session.table.schema.name
        guard let text = now.shape.index(of: "text") else {
            throw StoreError(.schemaMismatch, "the table lacks a column", table: table, column: "text")
        }
        self.text = text
        change = PackedRows(shape: now.shape)
    }

    mutating func perform(_ step: MixedStep) throws {
        switch step {
        case .read(let id): try now.store.read { try session.get(id, .view, now.columns, $0, &answer) }
        case .update(let id, let text):
            try pack(id, text)
            try now.store.write { try $0.upsert(change, into: table) }
            answer.count += 1
        case .insert(let batch):
            try now.store.write { try $0.upsert(batch.packed, into: table) }
            answer.count += batch.packed.count
        case .scan(let first, let count):
            let query = TableQuery(table, predicate: .column("id") >= .literal(first.value), limit: count)
            answer += try now.store.read { try session.sum(query, $0) { now.columns.number(viewing: $0) } }
        case .readModifyWrite(let id, let text):
            try pack(id, text)
            try now.store.write { writer in
                try session.get(id, .view, now.columns, writer, &answer)
                try writer.upsert(change, into: table)
            }
        }
    }

    private mutating func pack(_ id: RowID, _ text: String) throws {
        change.removeAll()
        change.beginRow()
        change.setID(id)
        change.set(.string(text), at: self.text)
        try change.endRow()
    }
}
#endif
