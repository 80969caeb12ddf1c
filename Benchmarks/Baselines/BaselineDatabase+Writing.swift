internal import CBaselines
internal import TidelineBenchmark
internal import TidelineStore

extension BaselineDatabase {
    /// Inserts or replaces rows.
    func upsert(_ batches: [RowBatch], _ latencies: LatencySink) throws -> Answer {
        for batch in batches { try latencies.time { try upsert(batch) } }
        return Answer(count: batches.reduce(0) { $0 + $1.packed.count })
    }

    private func upsert(_ batch: RowBatch) throws {
        try batch.packed.withStorage { rows, places in
            // C has the four numbers of a row as a structure.
            let entries = places.baseAddress?.assumingMemoryBound(to: baseline_entry.self)
            let rows = baseline_rows(
                buffer: rows.baseAddress?.assumingMemoryBound(to: UInt8.self), entries: entries,
                count: batch.packed.count)
            try write { database, failure in
                try failure.check(engine.pointee.upsert(database, rows, failure.pointer))
            }
        }
    }

    /// Deletes the rows of each list.
    func delete(_ lists: [[RowID]], _ latencies: LatencySink) throws -> Answer {
        var block = IDBlock()
        var answer = baseline_answer()
        for ids in lists {
            try latencies.time {
                try block.withIDs(ids[...]) { first, count in
                    try write { database, failure in
                        try failure.check(
                            engine.pointee.delete_ids(database, first, count, &answer, failure.pointer))
                    }
                }
            }
        }
        return Answer(answer)
    }

    /// Deletes the rows that each filter finds.
    func delete(matching filters: [RowFilter], _ latencies: LatencySink) throws -> Answer {
        var answer = baseline_answer()
        for filter in filters {
            try latencies.time {
                try withBytes(of: filter.list) { list in
                    try write { database, failure in
                        try failure.check(engine.pointee.delete_list(database, list, &answer, failure.pointer))
                    }
                }
            }
        }
        return Answer(answer)
    }

    // MARK: Mixes

    /// Does small operations, each in a transaction of its own.
    func mix(_ steps: [MixedStep], _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        for step in steps { answer += try latencies.time { try perform(step) } }
        return answer
    }

    private func perform(_ step: MixedStep) throws -> Answer {
        switch step {
        case .read(let id): return try get(id)
        case .update(let id, let text): return try change(id, text, reads: false)
        case .insert(let batch):
            try upsert(batch)
            return Answer(count: batch.packed.count)
        case .scan(let first, let count): return try scan(from: first, count: count)
        case .readModifyWrite(let id, let text): return try change(id, text, reads: true)
        }
    }

    private func change(_ id: RowID, _ text: String, reads: Bool) throws -> Answer {
        var answer = baseline_answer()
        try withBytes(of: id) { id in
            try withBytes(of: text) { text in
                try write { database, failure in
                    try failure.check(
                        engine.pointee.change_text(database, id, text, reads, &answer, failure.pointer))
                }
            }
        }
        return Answer(answer)
    }

    // MARK: Pulls

    /// Applies pages of JSON.
    func pull(_ pages: JSONPages, _ parser: PageParser, _ latencies: LatencySink) throws -> Answer {
        var answer = Answer()
        let size = max(pages.pagesPerTransaction, 1)
        for start in stride(from: 0, to: pages.bodies.count, by: size) {
            let group = pages.bodies[start..<min(start + size, pages.bodies.count)]
            answer.count += try latencies.time {
                try parser.parse(group) { rows, token in
                    try write { database, failure in
                        try failure.check(engine.pointee.upsert(database, rows, failure.pointer))
                        try failure.check(engine.pointee.put_token(database, token, failure.pointer))
                    }
                }
            }
        }
        return answer
    }
}
