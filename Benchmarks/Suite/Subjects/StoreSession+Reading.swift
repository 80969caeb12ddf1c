#if Commands
internal import TidelineStore

extension StoreSession {
    /// Reads each row in its own transaction.
    func getEach(_ ids: [RowID], _ access: Work.Access, _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        if access == .record { try table.requireRecord() }
        var answer = Answer()
        let columns = now.columns
        for id in ids {
            try latencies.time { try now.store.read { try get(id, access, columns, $0, &answer) } }
        }
        return answer
    }

    /// Reads all rows in one transaction.
    func getInOne(_ ids: [RowID], _ access: Work.Access, _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        if access == .record { try table.requireRecord() }
        let columns = now.columns
        return try now.store.read { try get(ids, access, columns, $0, latencies) }
    }

    /// Reads rows with a concrete reader type, to avoid dynamic dispatch for each row.
    private func get(
        _ ids: [RowID], _ access: Work.Access, _ columns: BenchmarkColumns, _ reader: some StoreReader,
        _ latencies: LatencySink
    ) throws -> Answer {
        var answer = Answer()
        for (position, id) in ids.enumerated() {
            if position % LatencySink.sampling == 0 {
                try latencies.time { try get(id, access, columns, reader, &answer) }
            } else {
                try get(id, access, columns, reader, &answer)
            }
        }
        return answer
    }

    /// Reads a row if it exists.
    @inline(__always)
    func get(
        _ id: RowID, _ access: Work.Access, _ columns: BenchmarkColumns, _ reader: some StoreReader,
        _ answer: inout Answer
    ) throws {
        let name = table.schema.name
        let number =
            switch access {
            case .view: try reader.withRow(in: name, id: id) { columns.number(viewing: $0) }
            case .typed: try reader.withRow(in: name, id: id) { columns.number(typed: $0) }
            case .record: try reader.record(ID<BenchmarkItem>(id.text))?.number
            case .row: try reader.row(in: name, id: id).map { columns.number($0) }
            }
        guard let number else { return }
        answer.count += 1
        answer.checksum &+= number
    }

    /// Reads all rows.
    func scan(_ access: Work.Access, _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        if access == .record { try table.requireRecord() }
        let query = TableQuery(table.schema.name)
        let columns = now.columns
        return try latencies.time {
            try now.store.read { reader in
                switch access {
                case .view: try sum(query, reader) { columns.number(viewing: $0) }
                case .typed: try sum(query, reader) { columns.number(typed: $0) }
                case .record: try sumRecords(reader)
                case .row: try sum(query, reader) { columns.number($0.owned()) }
                }
            }
        }
    }

    /// The number of records, and the sum of their row numbers, each times its position.
    private func sumRecords(_ reader: some StoreReader) throws -> Answer {
        var answer = Answer()
        try reader.forEachRecord(matching: BenchmarkItem.all) { item in
            answer.count += 1
            answer.checksum &+= item.number &* UInt64(answer.count)
            return .next
        }
        return answer
    }

    /// Performs each query and reads its rows in place.
    func find(_ filters: [RowFilter], limit: Int, _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        let columns = now.columns
        return try latencies.each(filters) { filter in
            let query = filter.query(table).limit(limit)
            return try now.store.read { try sum(query, $0) { columns.number(viewing: $0) } }
        }
    }

    /// Counts the rows of each query.
    func count(_ filters: [RowFilter], _ now: Opened, _ latencies: LatencySink) throws -> Answer {
        try latencies.each(filters) { filter in
            Answer(count: try now.store.read { try $0.count(filter.query(table)) })
        }
    }

    /// The number of rows of a query, and the sum of their row numbers, each times its position.
    @inline(__always)
    func sum(
        _ query: TableQuery, _ reader: some StoreReader, _ number: (borrowing RowView) -> UInt64
    ) throws -> Answer {
        var answer = Answer()
        try reader.scan(query) { row in
            answer.count += 1
            answer.checksum &+= number(row) &* UInt64(answer.count)
            return .next
        }
        return answer
    }
}
#endif
