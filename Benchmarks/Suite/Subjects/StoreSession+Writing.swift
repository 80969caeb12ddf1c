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
