internal import Logging
internal import TidelineStore

extension PullRun {
    /// Stores pages in one transaction, with the token of the last page. Does not write if nothing changes.
    ///
    /// If another write waits, the transaction ends after a step of rows, and another one stores the rest with the
    /// token. The token of the pages before is then stored with a part of the rows after it, which the next pull
    /// compares again if this one ends.
    func store(_ group: [PendingPage], _ state: inout PullState) async throws {
        var (rest, size) = (group[...], group.count)
        while !rest.isEmpty {
            do {
                rest = rest.dropFirst(try await storeSome(rest.prefix(size), &state))
            } catch let error as SyncError where error.code == .invalidAnswer && size > 1 {
                // A row could not be stored, so the transaction was rolled back. Store each page separately.
                size = 1
            } catch let error as SyncError where error.code == .invalidAnswer && state.skip(error, table: schema.name) {
                continue
            } catch let error as SyncError where error.cause is PageDiff.SpellingConflict {
                try await forgetState(of: error.id)
                throw error
            }
        }
        guard state.areRowsMissing, state.result.rowsStored > 0 else { return }
        state.areRowsMissing = false
        puller.options.logger.notice(
            "the rows of \(schema.name) were missing although a pull had stored some; it begins with the first row")
    }

    /// Clears the stamp of a stored row, so that no page can match its state.
    private func forgetState(of id: String?) async throws {
        guard let id else { return }
        let table = schema.name
        try await puller.database.writing { writer in
            guard let stored = try writer.row(in: table, id: id) else { return }
            try writer.upsert(Row(id: stored.id, distinctColumns: [("updatedAt", .null)]), into: table)
        }
    }

    /// Stores pages, or their first rows, in one transaction.
    ///
    /// - Returns: The number of pages that are stored.
    private func storeSome(_ group: ArraySlice<PendingPage>, _ state: inout PullState) async throws -> Int {
        let token = group.last.flatMap { state.token(after: $0) }
        var count = 0
        if state.storedRows == 0, token == state.stored || token == nil && group.last?.isLast != true {
            count = try await findsNothing(in: group, &state) ? group.count : 0
        }
        if count == 0 { count = try await write(group, token, &state) }
        settings.onProgress?(
            PullProgress(
                table: schema.name, queryID: queryID, rowsPulled: state.result.rowsPulled,
                pages: state.result.requests, total: state.expectedRows))
        return count
    }

    /// Returns whether the pages contain no changes, without writing.
    private func findsNothing(in group: ArraySlice<PendingPage>, _ state: inout PullState) async throws -> Bool {
        let before = state
        let found: PullState? = try await puller.database.reading { reader in
            var after = before
            for held in group {
                let diff = try PageDiff(
                    held, 0..<held.page.rows.count, after, settled: puller.recentlyPushed, mayBeStale: false,
                    operations: puller.operations, at: nil, in: reader)
                guard diff.isEmpty else { return nil }
                _ = after.note(diff, of: held)
            }
            // The stored token must let the pull restart.
            return after.isSpellingInDoubt && after.stored != after.start.token ? nil : after
        }
        if let found { state = found }
        return found != nil
    }

    private func write(
        _ group: ArraySlice<PendingPage>, _ token: PullToken?, _ state: inout PullState
    ) async throws -> Int {
        let (before, puller) = (state, puller)
        let (after, count) = try await puller.database.writing { writer in
            var (after, count) = (before, 0)
            try puller.owner.confirm(in: writer)
            let external = try writer.externalCommitNumber()
            let commitsOfOthers = puller.database.commitsOfOthers(external)
            let epoch = puller.database.commitEpoch(external)
            after.note(commitsOfOthers: commitsOfOthers)
            after.result.writes += 1
            // Each step is compared with the state after the earlier pages of the transaction.
            while count < group.count {
                let held = group[group.startIndex + count]
                let end = min(after.storedRows + puller.options.rowsPerStep, held.page.rows.count)
                let diff = try PageDiff(
                    held, after.storedRows..<end, after, settled: puller.recentlyPushed,
                    mayBeStale: held.commitsOfOthers != commitsOfOthers, operations: puller.operations, at: epoch,
                    in: writer)
                try diff.write(operations: puller.operations, in: writer)
                if after.note(diff, of: held) { count += 1 }
                if count < group.count, puller.database.hasWaitingWrites {
                    try begin(&after, in: writer)
                    return (after, count)
                }
            }
            try save(token, isLast: group.last?.isLast == true, &after, in: writer)
            return (after, count)
        }
        state = after
        return count
    }

    private func save(
        _ token: PullToken?, isLast: Bool, _ state: inout PullState, in writer: SyncDatabase<Store>.Writer
    ) throws {
        guard let queryID else { return }
        // The pull restarts. If the process ends before that, the next pull restarts too.
        var next = state.isSpellingInDoubt ? state.start.token : token.flatMap { state.limited($0) }
        // A pull of all rows that found none is as if there had been no pull.
        guard next != nil || state.isSpellingInDoubt || isLast && token == nil else {
            return try begin(&state, in: writer)
        }
        if isLast || next?.isLeftEmpty == true {
            next?.isLeftEmpty = try writer.isEmpty(TableQuery(schema.name)) ? true : nil
        }
        try replace(&state, with: next, queryID, in: writer)
    }

    /// Stores a token if the pull has stored rows before its first one. Without it, their removal by others would not
    /// be noticed.
    private func begin(_ state: inout PullState, in writer: SyncDatabase<Store>.Writer) throws {
        guard let queryID, state.stored == nil else { return }
        let token = PullToken.begun(filter: state.start.filter, fillsColumns: state.start.fillsColumns)
        try replace(&state, with: token, queryID, in: writer)
    }

    private func replace(
        _ state: inout PullState, with next: PullToken?, _ queryID: String, in writer: SyncDatabase<Store>.Writer
    ) throws {
        let isReplaced = try puller.tokens.replace(
            state.stored, with: next, table: schema.name, queryID: queryID, in: writer)
        guard isReplaced else {
            let isReset = try puller.tokens.token(table: schema.name, queryID: queryID, in: writer) == nil
            throw SyncError(
                .pullInterrupted,
                "the token of the query id \(queryID.debugDescription) "
                    + "\(isReset ? "was reset" : "changed again and again") during the pull; pull again",
                table: schema.name, cause: isReset ? nil : ReplacedToken())
        }
        state.stored = next
    }
}

/// The cause of an error in a pull whose token another client of the store has replaced.
struct ReplacedToken: Error {}
