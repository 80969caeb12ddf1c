internal import TidelineStore
internal import TidelineWire

/// The comparison of the local rows of a query with the server's.
extension PullRun {
    /// The local rows that match the query.
    private var localQuery: TableQuery { TableQuery(schema.name, predicate: query.predicate, selection: ["updatedAt"]) }

    /// Throws ``SyncError`` with code invalidArgument if the query cannot be evaluated locally, or its list cannot be
    /// requested.
    func checkComparison() throws {
        do {
            try localQuery.validate(against: schema)
        } catch {
            throw SyncError.wrapping(error).asArgumentError(table: schema.name)
        }
        if let first = try listing(query.predicate).firstCall() { try checkLength(of: first) }
    }

    // MARK: Leavers

    /// Removes the local rows that have left the query, unless the last comparison was within `interval`.
    func removeLeavers(every interval: Duration, _ result: inout PullResult) async throws {
        let now = puller.options.environment.now()
        guard try await isDue(interval, at: now) else { return }
        let leavers = try await leavers(notIn: try await list(query.predicate))
        let noted = interval > .zero && queryID != nil ? now : nil
        guard !leavers.rows.isEmpty || noted != nil else { return }
        result.leaversRemoved += try await remove(leavers, comparedAt: noted).count
        result.writes += 1
    }

    private func isDue(_ interval: Duration, at now: Timestamp) async throws -> Bool {
        guard interval > .zero, let queryID else { return true }
        let (tokens, table) = (puller.tokens, schema.name)
        let last = try await puller.database.reading {
            try tokens.token(table: table, queryID: queryID, in: $0)?.comparedAt
        }
        // A device whose clock was set back compares now.
        guard let last, last <= now else { return true }
        return last.advanced(by: interval) <= now
    }

    /// Returns the local rows that match the query, and that the server does not have.
    ///
    /// A row that is not in the list is requested by its identifier: it may have been pushed, or may have moved in the
    /// server's order, while the list was read, and another incremental pull of the table may keep it.
    func leavers(notIn list: ServerList) async throws -> Leavers {
        let epoch = puller.recentlyPushed.now
        var (leavers, kept) = try await puller.database.reading { reader in
            var leavers = Leavers(epoch: epoch)
            for row in try unlistedRows(list, in: reader) {
                if try isPending(row.id.text, in: reader) {
                    leavers.pending.append(row.id.text)
                } else {
                    leavers.rows.append(row)
                }
            }
            return (leavers, leavers.rows.isEmpty ? nil : try keptPredicate(in: reader))
        }
        guard !leavers.rows.isEmpty else { return leavers }
        var found = ServerList(matching: schema.idMatching)
        for part in try parts(of: leavers.rows.map(\.id.text), matching: kept) { try await read(part, into: &found) }
        leavers.rows.removeAll { found.contains($0.id.text) }
        return leavers
    }

    private func unlistedRows(_ list: ServerList, in reader: some StoreReader) throws -> [ComparedRow] {
        var rows: [ComparedRow] = []
        try reader.scan(localQuery) { view in
            if !list.contains(view.packedID) { rows.append(ComparedRow(view)) }
            return .next
        }
        return rows
    }

    func isPending(_ id: String, in reader: some StoreReader) throws -> Bool {
        try !puller.operations.operations(of: schema.name, key: schema.itemKey(id), in: reader).isEmpty
    }

    /// Returns the filter of the rows that this query or another incremental pull of the table keeps, or `nil` for all
    /// rows.
    private func keptPredicate(in reader: some StoreReader) throws -> RowPredicate? {
        guard var kept = query.predicate else { return nil }
        for (otherID, token) in try puller.tokens.tokens(of: schema.name, in: reader) {
            if let queryID, otherID.utf8.elementsEqual(queryID.utf8) { continue }
            guard !token.filter.isEmpty, let other = try? OData.parseFilter(token.filter, schema: schema) else {
                return nil
            }
            kept = kept || other
        }
        return kept
    }

    /// Removes leavers that have not changed since they were found, and records the time of the comparison.
    ///
    /// - Returns: The identifiers of the removed rows.
    func remove(_ leavers: Leavers, comparedAt: Timestamp? = nil) async throws -> [RowID] {
        let (puller, table, queryID) = (puller, schema.name, queryID)
        return try await puller.database.writing { writer in
            try puller.owner.confirm(in: writer)
            let pushed = puller.recentlyPushed.ends(of: table, after: leavers.epoch)
            let ids = try leavers.rows.filter { try isUnchanged($0, pushed, in: writer) }.map(\.id)
            if !ids.isEmpty { try writer.delete(ids: ids, from: table) }
            if try !ids.isEmpty && writer.isEmpty(TableQuery(table)) {
                // A token without its rows is of no use. If the server has the rows again, the next pull fetches them.
                try puller.tokens.remove(table: table, in: writer)
            } else if let comparedAt, let queryID,
                let token = try puller.tokens.token(table: table, queryID: queryID, in: writer)
            {
                var compared = token
                compared.comparedAt = comparedAt
                _ = try puller.tokens.replace(token, with: compared, table: table, queryID: queryID, in: writer)
            }
            return ids
        }
    }

    private func isUnchanged(
        _ row: ComparedRow, _ pushed: [RowID: RecentlyPushedRows.End], in reader: some StoreReader
    ) throws -> Bool {
        let id = row.id.text
        guard pushed[.string(schema.itemKey(id))] == nil, try !isPending(id, in: reader) else { return false }
        return try reader.withRow(in: schema.name, id: row.id) { ComparedRow($0) == row } ?? false
    }

    // MARK: Lists

    /// Returns the identifiers and versions of the rows that match a predicate on the server.
    func list(_ predicate: RowPredicate?) async throws -> ServerList {
        var list = ServerList(matching: schema.idMatching)
        try await read(predicate, into: &list)
        return list
    }

    private func listing(_ predicate: RowPredicate?) -> PullRun {
        PullRun(puller: puller, plan: plan.listing(predicate))
    }

    private func read(_ predicate: RowPredicate?, into list: inout ServerList) async throws {
        let listing = listing(predicate)
        var feed = try puller.dialect.makeFeed(listing.plan, from: FeedStart(omitsDeleted: true))
        var next = feed.first
        do {
            while let step = next {
                let page = try await listing.fetch(step)
                list.add(page)
                next = try feed.receive(page).next
            }
        } catch let expired as ExpiredCursor {
            throw expired.failure
        } catch var error as SyncError {
            error.table = error.table ?? schema.name
            throw error
        }
    }

    /// The maximum number of identifiers in a request.
    private static var maximumIDs: Int { 100 }

    /// Returns predicates for the rows with the given identifiers that match a predicate, in requests that are not too
    /// long.
    ///
    /// A custom dialect may not be able to filter by identifier, so that it gets the predicate itself, for these and
    /// other rows.
    func parts(of ids: [String], matching predicate: RowPredicate?) throws -> [RowPredicate?] {
        guard puller.dialect.tableService != nil else { return [predicate] }
        var parts: [RowPredicate?] = []
        var rest = [ids[...]]
        while let some = rest.popLast() {
            let isAny = RowPredicate.column("id").isIn(some.map { .string($0) })
            let part = predicate.map { isAny && $0 } ?? isAny
            if try some.count > Self.maximumIDs || (some.count > 1 && isTooLong(part, longest: some)) {
                let middle = some.index(some.startIndex, offsetBy: some.count / 2)
                rest += [some[middle...], some[..<middle]]
            } else if !some.isEmpty {
                parts.append(part)
            }
        }
        return parts
    }

    /// Returns whether a request for the rows after any of some identifiers is too long.
    private func isTooLong(_ predicate: RowPredicate, longest ids: ArraySlice<String>) throws -> Bool {
        let longest = ids.max { $0.utf8.count < $1.utf8.count } ?? ""
        let last = predicate && RowPredicate.column("id") > .value(longest)
        let length = try listing(last).firstCall()?.request.target.utf8.count ?? 0
        return length > puller.options.maximumURLLength
    }
}
