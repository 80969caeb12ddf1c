internal import TidelineStore

extension StoreSession {
    /// Writes packed rows.
    func upsert(_ batches: [RowBatch], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        for batch in batches {
            try latencies.time { try now.store.write { try $0.upsert(batch.packed, into: table.schema.name) } }
            answer.count += batch.packed.count
        }
        return answer
    }

    /// Writes `Row` values.
    func upsertRows(_ batches: [RowBatch], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        for batch in batches {
            try latencies.time { try now.store.write { try $0.upsert(batch.rows, into: table.schema.name) } }
            answer.count += batch.rows.count
        }
        return answer
    }

    /// Deletes the rows of each list.
    func delete(_ lists: [[RowID]], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        for ids in lists {
            answer.count += try latencies.time {
                try now.store.write { try $0.delete(ids: ids, from: table.schema.name) }
            }
        }
        return answer
    }

    /// Deletes what each query finds.
    func delete(matching filters: [RowFilter], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        for filter in filters {
            // Which row goes first does not matter to who deletes all.
            let query = Query(table.schema.name, predicate: filter.query(table).predicate)
            answer.count += try latencies.time { try now.store.write { try $0.delete(matching: query) } }
        }
        return answer
    }
}

extension StoreSession {
    /// Does small operations, each in a transaction of its own.
    func mix(_ steps: [MixedStep], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        var mixing = try Mixing(self, now)
        for step in steps { try latencies.time { try mixing.perform(step) } }
        return mixing.answer
    }
}

/// A mix under way.
private struct Mixing<Store: LocalStore>: ~Copyable {
    private let session: StoreSession<Store>
    private let now: StoreSession<Store>.Opened
    private let table: String
    private let text: Int
    /// A row of nothing but a text, used anew for each change.
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
            let query = Query(table, predicate: .column("id") >= .literal(first.value), limit: count)
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

extension StoreSession {
    /// Does what a sync client does, over the store.
    func sync(_ work: SyncWork, _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        guard case .restart = work else { return try now.sync.perform(work, noting: latencies) }
        guard now.store.capabilities.isPersistent else { throw WorkNotApplicable("keeps nothing") }
        try now.store.close()
        return try latencies.time { try openAgain().sync.perform(work, noting: LatencySink()) }
    }
}
