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
        let fetched = try await fetch(wanted)
        repair.rowsStored += fetched.rowsStored
        repair.rowsRemoved += fetched.rowsRemoved
        guard !leavers.rows.isEmpty else { return repair }
        let removed = Set(try await remove(leavers))
        repair.rowsRemoved += removed.count
        repair.skipped += leavers.rows.map(\.id).filter { !removed.contains($0) }.map(\.text)
        return repair
    }

    /// Fetches the rows that were removed because the server did not show them, and forgets that they were.
    func fetchHidden(_ ids: [String], _ result: inout PullResult) async throws {
        let fetched = try await fetch(mayShow(ids) ? ids : [])
        let (tokens, table, queryID) = (puller.tokens, schema.name, queryID ?? "")
        let isForgotten = try await puller.database.writing { writer in
            guard let token = try tokens.token(table: table, queryID: queryID, in: writer) else { return false }
            var next = token
            next.hidden = token.hidden.map { $0.filter { !ids.contains($0) } }.flatMap { $0.isEmpty ? nil : $0 }
            return try tokens.replace(token, with: next, table: table, queryID: queryID, in: writer)
        }
        result.rowsStored += fetched.rowsStored
        result.rowsRemoved += fetched.rowsRemoved
        result.writes += fetched.writes + (isForgotten ? 1 : 0)
    }

    /// Returns whether the server may show any of some rows again. A custom dialect, which may not be able to filter by
    /// identifier, looks each up, because all rows of the query would be fetched.
    private func mayShow(_ ids: [String]) async throws -> Bool {
        guard puller.dialect.tableService == nil else { return true }
        for id in ids {
            let request = RowRequest(.lookUp, id: id, schema: schema)
            let answer = try await puller.connection.send(puller.dialect.call(for: request))
            let isGone = answer.kind == .gone && !answer.isDoubtful
            if !isGone, answer.meaning.row?["deleted"]?.bool != true { return true }
        }
        return false
    }

    /// Fetches the rows of the query with the given identifiers.
    ///
    /// - Returns: The numbers of rows that were stored and removed, and of transactions.
    private func fetch(_ ids: [String]) async throws -> PullResult {
        var settings = settings
        settings.removesLeavers = nil
        var total = PullResult()
        for part in try ids.isEmpty ? [] : parts(of: ids, matching: query.predicate) {
            let query = TableQuery(schema.name, predicate: part)
            let plan = PullPlan(query: query, queryID: nil, settings: settings, schema: schema)
            let result = try await PullRun(puller: puller, plan: plan).run()
            total.rowsStored += result.rowsStored
            total.rowsRemoved += result.rowsRemoved
            total.writes += result.writes
        }
        return total
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
