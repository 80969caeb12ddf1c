internal import TidelineStore

extension SyncContext {
    /// Runs the requests of a pull while no other pull or purge of the table runs.
    nonisolated(nonsending) func withPull<T>(
        of table: String, _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        try await lock(of: table).withLock {
            try await connection.account.withCurrentUser {
                // The owner of the store may have changed while the pull waited for the lock.
                try await confirmOwner()
                settled.beginPull(of: table)
                defer { settled.endPull(of: table) }
                return try await body()
            }
        }
    }

    func verify(_ query: TableQuery, settings: PullSettings) async throws -> TableComparison {
        try await comparing(query, settings) { try await $0.verify().comparison }
    }

    func repair(_ query: TableQuery, settings: PullSettings) async throws -> TableRepair {
        try await comparing(query, settings) { try await $0.repair() }
    }

    private func comparing<T: Sendable>(
        _ query: TableQuery, _ settings: PullSettings, _ body: (PullRun<Store>) async throws -> T
    ) async throws -> T {
        var settings = settings
        settings.removesLeavers = .zero
        let run = try await makePull(query, queryID: nil, settings: settings)
        return try await mapped { try await withPull(of: query.table) { try await body(run) } }
    }
}
