#if Commands
internal import CBaselines
internal import TidelineBenchmark
internal import TidelineStore

extension BaselineDatabase {
    /// Inserts or replaces rows.
    func upsert(_ batches: [RowBatch], _ latencies: LatencySink) throws -> Answer {
        try latencies.each(batches) { try upsert($0) }
    }

    private func upsert(_ batch: RowBatch) throws -> Answer {
        try withRows(of: batch) { rows in try write { engine.pointee.upsert($0, rows, $1) } }
        return Answer(count: batch.packed.count)
    }

    /// Inserts rows, each with an operation in a queue.
    func insertLocally(_ batches: [RowBatch], _ latencies: LatencySink) throws -> Answer {
        try latencies.each(batches) { batch in
            try withRows(of: batch) { rows in
                try write { database, failure in
                    let result = engine.pointee.upsert(database, rows, failure)
                    return result == 0 ? engine.pointee.enqueue(database, rows, failure) : result
                }
            }
            return Answer(count: batch.packed.count)
        }
    }

    private func withRows(of batch: RowBatch, _ body: (baseline_rows) throws -> Void) throws {
        try batch.packed.withStorage { rows, positions in
            // In C, the four numbers of a row are a structure.
            let entries = positions.baseAddress?.assumingMemoryBound(to: baseline_entry.self)
            try body(
                baseline_rows(
                    buffer: rows.baseAddress?.assumingMemoryBound(to: UInt8.self), entries: entries,
                    count: batch.packed.count))
        }
    }

    /// Deletes rows by identifier, each list in its own transaction.
    func delete(_ lists: [[RowID]], _ latencies: LatencySink) throws -> Answer {
        var block = IDBlock()
        var answer = baseline_answer()
        for ids in lists {
            try latencies.time {
                try block.withIDs(ids[...]) { first, count in
                    try write { engine.pointee.delete_ids($0, first, count, &answer, $1) }
                }
            }
        }
        return Answer(answer)
    }

    /// Deletes the rows of each filter.
    func delete(matching filters: [RowFilter], _ latencies: LatencySink) throws -> Answer {
        var answer = baseline_answer()
        for filter in filters {
            try latencies.time {
                try withBytes(of: filter.list) { list in
                    try write { engine.pointee.delete_list($0, list, &answer, $1) }
                }
            }
        }
        return Answer(answer)
    }

    // MARK: Mixes

    /// Performs a mix of small operations, each in its own transaction.
    func mix(_ steps: [MixedStep], _ latencies: LatencySink) throws -> Answer {
        try latencies.each(steps) { step in
            switch step {
            case .read(let id): try get(id)
            case .update(let id, let text): try change(id, text, reads: false)
            case .insert(let batch): try upsert(batch)
            case .scan(let first, let count): try scan(from: first, count: count)
            case .readModifyWrite(let id, let text): try change(id, text, reads: true)
            }
        }
    }

    private func change(_ id: RowID, _ text: String, reads: Bool) throws -> Answer {
        var answer = baseline_answer()
        try withBytes(of: id) { id in
            try withBytes(of: text) { text in
                try write { engine.pointee.change_text($0, id, text, reads, &answer, $1) }
            }
        }
        return Answer(answer)
    }

    // MARK: Pulls

    /// Parses pages of JSON and stores their rows.
    func pull(_ pages: JSONPages, _ parser: PageParser, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        let size = max(pages.pagesPerTransaction, 1)
        for start in stride(from: 0, to: pages.bodies.count, by: size) {
            let group = pages.bodies[start..<min(start + size, pages.bodies.count)]
            answer.count += try latencies.time {
                try parser.parse(group) { rows, token in
                    try write { database, failure in
                        let result = engine.pointee.upsert(database, rows, failure)
                        return result == 0 ? engine.pointee.put_token(database, token, failure) : result
                    }
                }
            }
        }
        return answer
    }
}
#endif
