import Tideline

// The examples of the article *Sync that runs itself*, compiled verbatim.

private func show(_ text: String) { print(text) }
private func editItems(_ client: SyncClient<some LocalStore>) async throws {}

private func start(_ client: SyncClient<some LocalStore>) async throws {
    try await client.start([
        SyncSubscription("TodoList", priority: 1),
        SyncSubscription(TableQuery("TodoItem").filter(.column("complete") == false), queryID: "open"),
    ])
    client.syncNow()
}

private func run(_ client: SyncClient<some LocalStore>) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await client.run([SyncSubscription("TodoItem")]) }
        try await editItems(client)
        group.cancelAll()
    }
}

private func showStatus(_ client: SyncClient<some LocalStore>) async {
    for await status in client.statusUpdates {
        switch status {
        case .idle(let since): show("In sync at \(since)")
        case .pushing(let done, let total): show("Sending \(done) of \(total)")
        case .pulling(let table, let rows, let total): show("Fetching \(table): \(rows) of about \(total ?? rows)")
        case .offline(let message, let nextTry): show("Offline until \(nextTry): \(message)")
        case .needsSignIn: show("Sign in to continue")
        case .needsAttention(let count): show("\(count) changes were not accepted")
        case .failing(_, let message, _): show(message)
        case .stopped: show("Sync is off")
        }
    }
}

private func configure(
    _ client: SyncClient<some LocalStore>, monitor: any ConnectivityMonitor, tableNames: AsyncStream<String>
) async throws {
    var settings = SyncSettings()
    settings.pushDelay = .milliseconds(500)
    settings.maximumRetryDelay = .seconds(60)
    settings.pull.push.maxInFlight = 4  // operations at the same time
    settings.pull.maxInFlight = 2  // tables at the same time
    settings.connectivity = monitor  // nil by default; on Apple platforms: NetworkPathMonitor()
    settings.listensToServer = false  // without the server's change signal
    settings.changeSignals = ChangeSignals(tableNames)  // such as an AsyncStream that push notifications feed
    try await client.start([SyncSubscription("TodoItem", interval: .seconds(300))], settings: settings)
}

private func signOut(_ client: SyncClient<some LocalStore>) async throws {
    let removed = try await client.stop(wiping: true)
    if removed.operations > 0 { show("\(removed.operations) changes were not sent") }
}

private func pullSideBySide(_ client: SyncClient<some LocalStore>) async throws {
    let (steps, progress) = AsyncStream.makeStream(of: PullProgress.self, bufferingPolicy: .bufferingNewest(1))
    async let results = client.pull([SyncSubscription("TodoList"), SyncSubscription("TodoItem")], progress: progress)
    for await step in steps { print("\(step.rowsPulled) rows") }
    print(try await results.map(\.rowsStored))
}

private func pushUnlessOthersDo(_ client: SyncClient<some LocalStore>) async throws {
    try await client.push(settings: PushSettings(whenOtherProcessPushes: .fail))
}
