internal import TidelineStore

extension PullRun {
    /// Stores pages in one transaction, with the token of the last page. Does not write if nothing changes.
    func store(_ group: [PendingPage], _ state: inout PullState) async throws {
        guard let last = group.last else { return }
        do {
            try await storeAtOnce(group, last, &state)
        } catch let error as SyncError where error.code == .invalidAnswer && group.count > 1 {
            // A row could not be stored, so the transaction was rolled back. Store each page separately.
            for page in group { try await store([page], &state) }
        } catch let error as SyncError where error.code == .invalidAnswer && state.skip(error, table: schema.name) {
            try await store(group, &state)
        } catch let error as SyncError where error.cause is PageDiff.SpellingConflict {
            try await forgetState(of: error.id)
            throw error
        }
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

    private func storeAtOnce(_ group: [PendingPage], _ last: PendingPage, _ state: inout PullState) async throws {
        let token = state.token(after: last)
        var changesNothing = false
        if token == nil || token == state.stored { changesNothing = try await findsNothing(in: group, &state) }
        if !changesNothing { try await write(group, token, &state) }
        settings.onProgress?(
            PullProgress(
                table: schema.name, queryID: queryID, rowsPulled: state.result.rowsPulled,
                pages: state.result.requests, total: state.expectedRows))
    }

    /// Returns whether the pages contain no changes, without writing.
    private func findsNothing(in group: [PendingPage], _ state: inout PullState) async throws -> Bool {
        let before = state
        let found: PullState? = try await puller.database.reading { reader in
            var after = before
            for held in group {
                let diff = try diff(of: held, after, mayBeStale: false, in: reader)
                guard diff.isEmpty else { return nil }
                after.note(diff, of: held)
            }
            // The stored token must let the pull restart.
            return after.isSpellingInDoubt && after.stored != after.initial ? nil : after
        }
        if let found { state = found }
        return found != nil
    }

    private func write(_ group: [PendingPage], _ token: PullToken?, _ state: inout PullState) async throws {
        let before = state
        state = try await puller.database.writing { writer in
            var after = before
            try puller.owner.confirm(in: writer)
            let commitsOfOthers = try puller.database.commitsOfOthers(writer.externalCommitNumber())
            after.note(commitsOfOthers: commitsOfOthers)
            // Each page is compared with the state after the earlier pages of the transaction.
            for held in group {
                let diff = try diff(
                    of: held, after, mayBeStale: held.commitsOfOthers != commitsOfOthers, in: writer)
                try diff.write(operations: puller.operations, in: writer)
                after.note(diff, of: held)
            }
            try save(token, isLast: group.last?.isLast == true, &after, in: writer)
            after.result.writes += 1
            return after
        }
    }

    /// - Parameter mayBeStale: Whether another process or client may have pushed rows of the page since it was
    ///   requested.
    private func diff(
        of held: PendingPage, _ state: PullState, mayBeStale: Bool, in reader: some StoreReader
    ) throws -> PageDiff {
        try PageDiff(
            held, state, settled: puller.recentlyPushed, mayBeStale: mayBeStale, operations: puller.operations,
            in: reader)
    }

    private func save(
        _ token: PullToken?, isLast: Bool, _ state: inout PullState, in writer: SyncDatabase<Store>.Writer
    ) throws {
        guard let queryID else { return }
        // The pull restarts. If the process ends before that, the next pull restarts too.
        var next = state.isSpellingInDoubt ? state.initial : token.flatMap { state.limited($0) }
        guard next != nil || state.isSpellingInDoubt else { return }
        if isLast || next?.isLeftEmpty == true {
            next?.isLeftEmpty = try writer.isEmpty(TableQuery(schema.name)) ? true : nil
        }
        let isReplaced = try puller.tokens.replace(
            state.stored, with: next, table: schema.name, queryID: queryID, in: writer)
        guard isReplaced else {
            throw SyncError(
                .pullInterrupted,
                "the token of the query id \(queryID.debugDescription) changed during the pull; pull again",
                table: schema.name)
        }
        state.stored = next
    }
}
