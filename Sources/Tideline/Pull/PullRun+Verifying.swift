internal import TidelineStore

extension PullRun {
    /// Compares the local rows that match the query with the server's.
    func verify() async throws -> (comparison: TableComparison, leavers: Leavers) {
        let epoch = puller.recentlyPushed.now
        let list = try await list(query.predicate)
        let leavers = try await leavers(notIn: list)
        let comparison = try await puller.database.reading { reader in
            var comparison = TableComparison(
                localRows: try reader.count(query), onlyLocal: leavers.rows.map(\.id.text), pending: leavers.pending)
            try comparison.add(list, of: self, since: epoch, in: reader)
            return comparison
        }
        return (comparison, leavers)
    }

    /// Fetches the rows that are missing or different, and removes those that only the local table has.
    func repair() async throws -> TableRepair {
        let (comparison, leavers) = try await verify()
        var repair = TableRepair(comparison: comparison, skipped: comparison.pending)
        let wanted = comparison.missing + comparison.different
        if !wanted.isEmpty {
            var settings = settings
            settings.removesLeavers = nil
            for part in try parts(of: wanted, matching: query.predicate) {
                let pull = PullRun(
                    puller, query: TableQuery(schema.name, predicate: part), queryID: nil, settings: settings,
                    schema: schema)
                let result = try await pull.run()
                repair.rowsStored += result.rowsStored
                repair.rowsRemoved += result.rowsRemoved
            }
        }
        guard !leavers.rows.isEmpty else { return repair }
        let removed = Set(try await remove(leavers))
        repair.rowsRemoved += removed.count
        repair.skipped += leavers.rows.map(\.id).filter { !removed.contains($0) }.map(\.text)
        return repair
    }
}

extension TableComparison {
    /// Adds the rows of the server's list that are missing or different. Rows that were pushed since the list was
    /// requested, or whose version the server does not tell, are not compared.
    fileprivate mutating func add<Store: LocalStore>(
        _ list: ServerList, of run: PullRun<Store>, since epoch: UInt64, in reader: some StoreReader
    ) throws {
        let schema = run.schema
        let pushed = run.puller.recentlyPushed.ends(of: schema.name, after: epoch)
        try list.forEachRow { id, version in
            serverRows += 1
            let stored = try reader.withRow(in: schema.name, id: .string(id)) { ComparedRow($0) }
            let isSame = stored.map { version == nil || version == $0.version } ?? false
            guard !isSame, pushed[.string(schema.itemKey(id))] == nil else { return }
            if try run.isPending(id, in: reader) {
                pending.append(id)
            } else if stored == nil {
                missing.append(id)
            } else {
                different.append(id)
            }
        }
    }
}
