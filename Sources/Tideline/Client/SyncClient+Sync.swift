internal import TidelineStore

extension SyncClient {
    /// Starts a sync that keeps the subscriptions in step with the server until it is stopped.
    ///
    /// The sync pushes after local changes, and pulls each subscription at the start, at its interval, after a change
    /// signal, when ``SyncSettings/connectivity`` reports a network after there was none or after a failure, and when
    /// ``syncNow()`` is called. One push or group of pulls runs at a time. After a network failure, it tries again with
    /// increasing delays. Local changes made before the start, or by another client or process that shares the store,
    /// are pushed too: at once if the store signals its commits to other processes, and else with the next round.
    ///
    /// ```swift
    /// try await client.start([SyncSubscription("TodoList", priority: 1), SyncSubscription("TodoItem")])
    /// for await status in client.statusUpdates { label.text = "\(status)" }
    /// ```
    ///
    /// The sync ends when ``stop()`` is called or the client is released, which a table does not keep. Its errors
    /// appear in ``status`` and, as notices and warnings, in the log. Calls of ``push(settings:)`` and
    /// ``pull(_:queryID:settings:)`` remain possible.
    /// - Parameters:
    ///   - subscriptions: The rows to keep in step. Without any, the sync only pushes.
    ///   - settings: See ``SyncSettings``.
    /// - Throws: ``SyncError``. Nothing is started then.
    ///   - ``SyncError/Code/invalidArgument`` if a sync is already running; for an invalid setting; for a subscription
    ///     whose query cannot be pulled; and for two of the same table and query id.
    ///   - ``SyncError/Code/store`` for a subscription whose table is not defined.
    ///   - ``SyncError/Code/otherServer`` or ``SyncError/Code/otherUser`` if the store belongs to others.
    public func start(_ subscriptions: [SyncSubscription], settings: SyncSettings = SyncSettings()) async throws {
        let loop = try await makeLoop(subscriptions, settings)
        let control = sync
        // The sync outlives this call, so it needs a task of its own. It runs on the executor of the environment, on
        // which a simulation determines the order of all jobs. The task does not keep the client, whose end ends it.
        Task(executorPreference: context.options.environment.taskExecutor) {
            await control.run { await loop.run(subscriptions) }
        }
    }

    /// Runs a sync as ``start(_:settings:)``, within the current task, until the task is cancelled or ``stop()`` is
    /// called.
    ///
    /// When the call returns, nothing is in flight. Use it where a task group or service group owns the sync.
    /// - Throws: As ``start(_:settings:)``.
    public func run(_ subscriptions: [SyncSubscription], settings: SyncSettings = SyncSettings()) async throws {
        let loop = try await makeLoop(subscriptions, settings)
        await sync.run { await loop.run(subscriptions) }
    }

    /// Replaces the subscriptions of the running sync, which keeps its settings. A new one is pulled at once.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidArgument`` if no sync is running, and as
    ///   ``start(_:settings:)``.
    public func updateSubscriptions(_ subscriptions: [SyncSubscription]) async throws {
        try await context.puller.check(subscriptions, settings: sync.pullSettings)
        guard sync.post(.declared(subscriptions)) else {
            throw SyncError(.invalidArgument, "no sync is running; call start(_:settings:) with the subscriptions")
        }
    }

    /// Pushes and pulls all subscriptions as soon as possible, without the delays of earlier failures. Operations that
    /// failed are sent again. Does nothing if no sync is running.
    ///
    /// The call does not wait. A conflict is sent again only if ``PushSettings/retriesConflicts`` is set.
    public func syncNow() { sync.post(.requested) }

    /// Ends the sync. Returns when nothing is in flight.
    ///
    /// Requests on their way are cancelled. What the server has applied is found out by the next push. Within the sync,
    /// such as in ``SyncContextDelegate/pushCompleted(_:)``, the call returns at once, and the sync ends afterwards. A
    /// task that a method of the delegate or ``SyncOptions/authorization`` has started waits, too, but only after that
    /// call has ended; no later call within the sync may wait for such a task. Use `Task.detached` for a task that may
    /// run earlier, or that another closure of the app starts.
    public func stop() async { _ = await end() }

    /// Ends the sync, and returns `false` if the current task runs within it, so that it ends afterwards.
    private func end() async -> Bool {
        let isWithin = sync.isCurrent
        sync.close()
        if !isWithin { await sync.waitUntilEnded() }
        return !isWithin
    }

    /// Ends the sync and, for a sign-out, removes the user's data: rows, pending operations, their errors, and tokens,
    /// in one transaction, and ``currentUser``.
    ///
    /// - Parameter wiping: Whether to remove the data; see ``wipe()``. If `false`, the call is the same as ``stop()``.
    /// - Returns: The number of rows and operations removed.
    /// - Throws: ``SyncError``. The sync has ended then, and no data is removed.
    ///   - ``SyncError/Code/cancelled`` if the task is cancelled before the data is removed.
    ///   - ``SyncError/Code/invalidArgument`` if called within the sync, such as by a delegate; see ``stop()``.
    ///   - As ``wipe()``.
    @discardableResult
    public func stop(wiping: Bool) async throws -> ForcePurgeResult {
        let hasEnded = await end()
        guard wiping else { return ForcePurgeResult() }
        guard hasEnded else {
            throw SyncError(
                .invalidArgument,
                "the data cannot be removed within the sync; call stop(wiping:) elsewhere, such as in a detached task")
        }
        let result = try await context.cleaner.wipe()
        currentUser = nil
        return result
    }

    /// The status of the sync.
    public var status: SyncStatus { sync.status.current }

    /// A sequence of the current status and each later one.
    ///
    /// It never delays the sync: a reader that is slower skips all but the latest value. It ends when the client is
    /// released.
    public var statusUpdates: AsyncStream<SyncStatus> { sync.status.makeStream() }

    /// Checks the arguments of a sync, and begins it.
    private func makeLoop(_ subscriptions: [SyncSubscription], _ settings: SyncSettings) async throws -> SyncLoop<Store>
    {
        try settings.check()
        try await context.puller.check(subscriptions, settings: settings.pull)
        return SyncLoop(
            pusher: context.pusher, puller: context.puller, settings: settings,
            mailbox: try sync.begin(subscriptions, pullSettings: settings.pull), status: sync.status,
            tables: sync.tables)
    }
}

extension SyncSettings {
    fileprivate func check() throws {
        let delays = [
            ("pushDelay", pushDelay), ("initialRetryDelay", initialRetryDelay),
            ("maximumRetryDelay", maximumRetryDelay),
        ]
        for (name, delay) in delays where delay <= .zero {
            throw SyncError(.invalidArgument, "the setting \(name) must be greater than zero, not \(delay)")
        }
        try pull.push.check()
    }
}
