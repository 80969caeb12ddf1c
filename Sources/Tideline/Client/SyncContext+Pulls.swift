internal import TidelineStore

extension SyncContext {
    func verify(_ query: TableQuery, settings: PullSettings) async throws -> TableComparison {
        try await puller.verify(query, settings: settings)
    }

    func repair(_ query: TableQuery, settings: PullSettings) async throws -> TableRepair {
        try await puller.repair(query, settings: settings)
    }

    func pullToken(table: String, queryID: String) async throws -> PullToken? {
        try RowInput.checkName(table)
        return try await database.reading { [tokens = puller.tokens] in
            try tokens.token(table: table, queryID: queryID, in: $0)
        }
    }

    // MARK: Pushing before pulling

    func pull(_ query: TableQuery, queryID: String?, settings: PullSettings) async throws -> PullResult {
        let run = try await puller.makeRun(query, queryID: queryID, settings: settings)
        guard let pushError = try await pushBeforePull(of: [query.table], settings: settings) else {
            return try await puller.pull(run)
        }
        let failed = pushError.operationErrors
        do {
            _ = try await puller.pull(run)
        } catch {
            var failure = SyncError.wrapping(error)
            failure.operationErrors += failed
            throw failure
        }
        let reason = pushError.code == .network ? pushError.message : "\(failed.count) operations failed"
        throw SyncError(
            pushError.code, "the other rows were pulled, but \(reason)", table: query.table, operationErrors: failed,
            cause: pushError.cause)
    }

    /// See ``SyncClient/pull(_:settings:progress:)``.
    func pull(
        _ subscriptions: [SyncSubscription], settings: PullSettings, progress: AsyncStream<PullProgress>.Continuation?
    ) async throws -> [PullResult] {
        defer { progress?.finish() }
        try await puller.check(subscriptions, settings: settings)
        let pushError = try await pushBeforePull(of: subscriptions.map(\.table), settings: settings)
        let results = await puller.pull(subscriptions, settings: settings, progress: progress)
        try throwFailure(of: results, pushError)
        return try results.map { try $0.get() }
    }

    /// Pushes before a pull if one of the tables has pending operations.
    ///
    /// - Returns: The push error to throw after the pull, or `nil` if there is none.
    private func pushBeforePull(of tables: [String], settings: PullSettings) async throws -> SyncError? {
        guard try await queue.hasOperations(of: tables) else { return nil }
        do {
            _ = try await pusher.push(settings: settings.push)
        } catch let error as SyncError
            where settings.whenPushFails == .pullOthers
            && ([.completedWithErrors, .serverFailing].contains(error.code) || error.isOfSomeOperations)
        {
            return error
        }
        return nil
    }

    /// Throws the first failure that is not the consequence of another one.
    private func throwFailure(of results: [Result<PullResult, SyncError>], _ pushError: SyncError?) throws {
        let failures = results.compactMap { result -> SyncError? in
            if case .failure(let error) = result { error } else { nil }
        }
        guard var failure = failures.first(where: { $0.code != .cancelled }) ?? failures.first ?? pushError else {
            return
        }
        if !failures.isEmpty { failure.operationErrors += pushError?.operationErrors ?? [] }
        throw failure
    }
}
