#if Commands
internal import CBaselines
internal import TidelineBenchmark
internal import TidelineStore

extension BaselineDatabase {
    /// Reads rows by id.
    func get(_ ids: [RowID], _ transaction: Work.Transaction, _ latencies: LatencySink) throws -> Answer {
        switch transaction {
        case .each: try withReader { try get(ids, isEach: true, $0, latencies) }
        case .one: try read(isSingle: false) { try get(ids, isEach: false, $0, latencies) }
        }
    }

    /// Passes the identifiers to C in blocks. The C code loops over them and measures latencies.
    private func get(_ ids: [RowID], isEach: Bool, _ reader: Reader, _ latencies: LatencySink) throws -> Answer {
        var block = IDBlock()
        var answer = baseline_answer()
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: IDBlock.common) { times in
            var gets = baseline_gets(
                engine: engine, reader: reader.handle, is_each: isEach, sampling: LatencySink.sampling, first: 0,
                times: times.baseAddress, time_count: 0)
            for start in stride(from: 0, to: ids.count, by: IDBlock.common) {
                try block.withIDs(ids[start..<min(start + IDBlock.common, ids.count)]) { first, count in
                    try reader.failure.check(baseline_get(&gets, first, count, &answer, reader.failure.pointer))
                }
                for time in times.prefix(gets.time_count) { latencies.note(nanoseconds: time) }
            }
        }
        return Answer(answer)
    }

    /// Reads one row.
    func get(_ id: RowID) throws -> Answer {
        try readOnce { reader, answer in
            try withBytes(of: id) { engine.pointee.get(reader.handle, $0, &answer, reader.failure.pointer) }
        }
    }

    /// Reads all rows.
    func scan(_ latencies: LatencySink) throws -> Answer {
        try latencies.time {
            try readOnce { reader, answer in
                engine.pointee.scan(reader.handle, nil, .max, &answer, reader.failure.pointer)
            }
        }
    }

    /// Reads a number of rows from an identifier on.
    func scan(from id: RowID, count: Int) throws -> Answer {
        try readOnce { reader, answer in
            try withBytes(of: id) { id in
                withUnsafePointer(to: id) {
                    engine.pointee.scan(reader.handle, $0, count, &answer, reader.failure.pointer)
                }
            }
        }
    }

    /// Reads the first rows of lists.
    func find(_ filters: [RowFilter], limit: Int, _ latencies: LatencySink) throws -> Answer {
        try query(filters, latencies) { reader, list, answer in
            engine.pointee.find(reader.handle, list, limit, &answer, reader.failure.pointer)
        }
    }

    /// Counts the rows of lists.
    func count(_ filters: [RowFilter], _ latencies: LatencySink) throws -> Answer {
        try query(filters, latencies) { reader, list, answer in
            engine.pointee.count(reader.handle, list, &answer, reader.failure.pointer)
        }
    }

    private func query(
        _ filters: [RowFilter], _ latencies: LatencySink,
        _ call: (Reader, baseline_bytes, inout baseline_answer) -> Int32
    ) throws -> Answer {
        try latencies.each(filters) { filter in
            try readOnce { reader, answer in withBytes(of: filter.list) { call(reader, $0, &answer) } }
        }
    }
    /// Makes one call in its own snapshot.
    @inline(__always)
    private func readOnce(_ call: (Reader, inout baseline_answer) throws -> Int32) throws -> Answer {
        try read(isSingle: true) { reader in
            var answer = baseline_answer()
            try reader.failure.check(try call(reader, &answer))
            return Answer(answer)
        }
    }
}

extension Answer {
    /// Converts an answer of the C code.
    init(_ answer: baseline_answer) { self.init(count: Int(answer.count), checksum: answer.checksum) }
}
#endif
