internal import TidelineStore

/// Pulls the tables of a store from its server, one pull of a table at a time.
struct Puller<Store: LocalStore>: Sendable {
    let database: SyncDatabase<Store>
    let operations: OperationStore
    let owner: StoreOwnership<Store>
    let tokens: TokenStore
    let recentlyPushed: RecentlyPushedRows
    let connection: ServerConnection
    let dialect: any ClientDialect
    let pageLimits = PageLimits()

    var options: SyncOptions { connection.options }

    /// Pulls a table, without pushing before.
    func pull(_ query: TableQuery, queryID: String?, settings: PullSettings) async throws -> PullResult {
        let run = try await makeRun(query, queryID: queryID, settings: settings)
        return try await pull(run)
    }

    /// Runs a pull that ``makeRun(_:queryID:settings:)`` has made.
    func pull(_ run: PullRun<Store>) async throws -> PullResult {
        try await withPull(of: run.query.table) { try await run.run() }
    }

    /// Checks the arguments of a pull, and makes it.
    func makeRun(_ query: TableQuery, queryID: String?, settings: PullSettings) async throws -> PullRun<Store> {
        try PullArguments.check(query, queryID: queryID, settings: settings)
        let schema = try await database.reading { try $0.schema(of: query.table) }
        return try await SyncError.wrappingErrors {
            try PullArguments.checkColumns(of: query, schema: schema)
            let plan = PullPlan(query: query, queryID: queryID, settings: settings, schema: schema)
            let run = PullRun(puller: self, plan: plan)
            try run.checkRequest()
            return run
        }
    }

    /// Throws if subscriptions cannot be pulled, or not together, before anything is sent.
    func check(_ subscriptions: [SyncSubscription], settings: PullSettings) async throws {
        for (index, subscription) in subscriptions.enumerated() {
            let table = subscription.table
            if let interval = subscription.interval, interval <= .zero {
                throw SyncError(
                    .invalidArgument, "the interval of a subscription must be greater than zero, not \(interval)",
                    table: table)
            }
            guard !subscriptions[..<index].contains(where: { $0.isSamePull(as: subscription) }) else {
                throw SyncError(
                    .invalidArgument,
                    "two subscriptions have the query id \(subscription.queryID?.debugDescription ?? "nil"); give each "
                        + "its own", table: table)
            }
            _ = try await makeRun(subscription.query, queryID: subscription.queryID, settings: settings)
        }
        try await owner.requireOwn()
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
        let run = try await makeRun(query, queryID: nil, settings: settings)
        return try await withPull(of: query.table) { try await body(run) }
    }

    /// Runs the requests of a pull while no other pull or purge of the table runs.
    private nonisolated(nonsending) func withPull<T>(
        of table: String, _ body: nonisolated(nonsending) () async throws -> T
    ) async throws -> T {
        try await SyncError.wrappingErrors {
            try await database.lock(of: table).withLock {
                try await connection.account.withCurrentUser {
                    // The owner of the store may have changed while the pull waited for the lock.
                    try await owner.confirm()
                    recentlyPushed.beginPull(of: table)
                    defer { recentlyPushed.endPull(of: table) }
                    return try await body()
                }
            }
        }
    }
}
