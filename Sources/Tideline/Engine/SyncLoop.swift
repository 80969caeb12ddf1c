internal import Logging
internal import TidelineLive
internal import TidelineStore

/// Performs the actions that ``SyncMachine`` decides on, until it is stopped or cancelled.
///
/// Everything runs in child tasks of the caller, on its executor. When the loop has ended, nothing is in flight.
struct SyncLoop<Store: LocalStore>: Sendable {
    let pusher: Pusher<Store>
    let puller: Puller<Store>
    let settings: SyncSettings
    let mailbox: SyncMailbox
    let status: StatusBoard
    let tables: SubscribedTables
    /// The change signals of the dialect that are not listened to yet.
    private let offered = LockedValue<ChangeSignals?>(nil)
    /// The newest operation, and those that failed, as this sync last knew them.
    /// `looks` counts the comparisons with them.
    private let known = LockedValue<(newest: Int64, failed: Set<Int64>, looks: Int)>((0, [], 0))

    private var environment: SyncEnvironment { pusher.options.environment }

    func run(_ subscriptions: [SyncSubscription]) async {
        let syncs = pusher.database.clients.syncs
        syncs.observe(for: mailbox) { [mailbox] in mailbox.post(.init($0)) }
        tables.begin(with: subscriptions)
        let signals = makeSignals()
        offered.withLock { $0 = signals }
        // The first push, which begins later, sends what others have committed before.
        let othersCommits = await commitsOfOthers()
        await withDiscardingTaskGroup { group in
            if let othersCommits { group.addTask { await listen(toOthers: othersCommits) } }
            if let connectivity = settings.connectivity { group.addTask { await listen(to: connectivity) } }
            if let signals = settings.changeSignals { group.addTask { _ = await listen(to: signals) } }
            var machine = SyncMachine(
                settings: .init(
                    pushDelay: settings.pushDelay, initialRetryDelay: settings.initialRetryDelay,
                    maximumRetryDelay: settings.maximumRetryDelay, hasSignals: signals != nil))
            while let events = await mailbox.takeAll() {
                for event in events {
                    if case .declared(let subscriptions) = event { tables.update(to: subscriptions) }
                    for action in machine.handle(event, at: environment.now(), random: environment.random) {
                        perform(action, &group)
                    }
                }
            }
            group.cancelAll()
        }
        syncs.observe(for: mailbox, nil)
    }

    private func perform(_ action: SyncMachine.Action, _ group: inout DiscardingTaskGroup) {
        switch action {
        case .publish(let value): status.publish(value)
        case .push(let retry): group.addTask { mailbox.post(.pushed(await push(retry))) }
        case .pull(let pulls): group.addTask { mailbox.post(.pulled(await pull(pulls))) }
        case .listen(let number):
            group.addTask {
                var end = SyncMachine.SignalsEnd()
                if let signals = offered.withLock({ $0.take() }) ?? makeSignals() {
                    end = await listen(to: signals, hasBaseline: pusher.dialect.isTableService)
                }
                mailbox.post(.signalsEnded(number, end))
            }
        case .schedule(let timer, let delay):
            group.addTask {
                // A longer delay exceeds the range of some clocks.
                let delay = min(delay, .seconds(86_400 * 366))
                do {
                    try await environment.sleep(delay)
                    mailbox.post(.fired(timer))
                } catch {
                    // The sync ends.
                }
            }
        }
    }

    // MARK: Listening

    /// Returns the change signals of the dialect, or `nil` if it has none or the app does not want them.
    private func makeSignals() -> ChangeSignals? {
        guard settings.listensToServer else { return nil }
        return pusher.dialect.changeSignals(
            over: DialectConnection(connection: pusher.connection, subscribed: tables))
    }

    /// Returns a sequence of the commits of other processes, and of other stores over the same files, or `nil` if they
    /// are not signaled. To look for them all the time would cost more than a later push.
    private func commitsOfOthers() async -> AsyncStream<Void>? {
        guard pusher.database.observed.externalCommits?.signalPath != nil else { return nil }
        return try? await pusher.database.performing { $0.externalCommitUpdates() }
    }

    /// Pushes after commits of others that have queued an operation, or changed one that had failed. Those of a push
    /// lead to no further one, so that two syncs do not wake each other without end.
    private func listen(toOthers first: AsyncStream<Void>) async {
        var commits: AsyncStream<Void>? = first
        while let updates = commits {
            for await _ in updates where await hasChangedQueue() { mailbox.post(.localChange) }
            // The store could not be read, or is closed.
            guard (try? await environment.sleep(.seconds(5))) != nil else { return }
            commits = await commitsOfOthers()
            if commits != nil { mailbox.post(.localChange) }
        }
    }

    /// Returns whether others have queued an operation, or changed one that had failed, since the last call. If the
    /// queue cannot be read, the push finds out.
    private func hasChangedQueue() async -> Bool {
        guard let (newest, failed) = try? await pusher.queue.newestAndFailed() else { return true }
        return known.withLock { known in
            defer { known = (max(newest, known.newest), failed, known.looks + 1) }
            return newest > known.newest || !known.failed.isSubset(of: failed)
        }
    }

    private func listen(to monitor: any ConnectivityMonitor) async {
        for await isAvailable in monitor.reports() { mailbox.post(.network(isAvailable: isAvailable)) }
    }

    /// Passes on the names of tables. A sequence that never waits is slowed down.
    ///
    /// - Parameter hasBaseline: Whether the sequence signals all changes since the latest pull. Otherwise, its first
    ///   element stands for all tables.
    private func listen(to signals: ChangeSignals, hasBaseline: Bool = true) async -> SyncMachine.SignalsEnd {
        var count = 0
        var end = SyncMachine.SignalsEnd()
        do {
            try await signals.read { name in
                try Task.checkCancellation()
                mailbox.post(.changed(table: count == 0 && !hasBaseline ? nil : name))
                count += 1
                if count.isMultiple(of: Self.signalsAtOnce) { try await environment.sleep(Self.signalPause) }
            }
            if !Task.isCancelled { pusher.options.logger.notice("the change signals have ended") }
        } catch is TableServiceSignals.NotSupported {
            pusher.options.logger.debug("the server has no change signal")
            end.isUnsupported = true
        } catch {
            if !Task.isCancelled { pusher.options.logger.notice("the change signals have ended: \(error)") }
            end.retryAfter = (error as? SyncError)?.retryAfter
        }
        end.canContinue = tables.position.withLock { $0.cursor != nil }
        return end
    }

    /// The statuses of failures that end by themselves: a table that is missing may be there with the next version of
    /// the service, and a server that is not available comes back.
    private static var passingStatuses: Set<Int> { [404, 408, 429, 502, 503, 504] }

    private static var signalsAtOnce: Int { 64 }
    private static var signalPause: Duration { .milliseconds(200) }

    // MARK: Push

    private func push(_ retry: FailureRetry) async -> SyncMachine.PushOutcome {
        var outcome = SyncMachine.PushOutcome()
        do {
            var settings = settings.pull.push
            settings.failureRetry = retry
            settings.whenOtherProcessPushes = .wait
            let policies = pusher.policies.current
            let looks = known.withLock { $0.looks }
            let (total, failed) = try await pusher.queue.count(toSendWith: settings, policies.policy(for:))
            if total > 0 {
                // The first answer may take as long as the time limit of a request. Until it comes, an offline sync is
                // offline.
                let isOffline = if case .offline = status.current { true } else { false }
                if !isOffline { status.publish(.pushing(done: 0, total: total)) }
                outcome = await send(settings)
                outcome.newFailures = outcome.failedOnServer.subtracting(failed)
            }
            let unresolved = Set(try await pusher.queue.failures().map(\.operationID))
            let hasLooked = known.withLock { known in
                known.failed = unresolved
                return known.looks != looks
            }
            // A change by others meanwhile was compared with the failures before this push. Without anything to send, a
            // push commits nothing that would wake others.
            if hasLooked, total > 0 { mailbox.post(.localChange) }
            outcome.unresolved = unresolved
        } catch {
            outcome.failure = outcome.failure ?? SyncMachine.Failure(SyncError.wrapping(error))
        }
        return outcome
    }

    private func send(_ given: PushSettings) async -> SyncMachine.PushOutcome {
        var settings = given
        settings.onProgress = { [status] progress in
            let done = progress.sent + progress.resolved + progress.failed
            status.publish(.pushing(done: done, total: progress.total))
            given.onProgress?(progress)
        }
        do {
            return SyncMachine.PushOutcome(isAnswered: try await pusher.push(settings: settings).isServiceThere)
        } catch {
            let error = SyncError.wrapping(error)
            var outcome = SyncMachine.PushOutcome(isAnswered: error.isServiceThere)
            if error.code != .completedWithErrors {
                outcome.failure = SyncMachine.Failure(error)
                if error.code != .cancelled { pusher.options.logger.notice("\(error)") }
            }
            for failed in error.operationErrors {
                pusher.options.logger.warning("\(failed)")
                if failed.code == .serverFailed,
                    failed.record.failure.isOfNetwork || failed.status.map(Self.passingStatuses.contains) == true
                {
                    outcome.delayed.insert(failed.operationID)
                } else if failed.record.isRetried(pusher.policies.policy(for: failed.table)) {
                    outcome.failedOnServer.insert(failed.operationID)
                }
            }
            return outcome
        }
    }

    // MARK: Pull

    private func pull(_ pulls: [(id: Int, subscription: SyncSubscription)]) async -> [Int: SyncMachine.Failure?] {
        var settings = settings.pull
        let given = settings.onProgress
        settings.onProgress = { [status] progress in
            status.publish(.pulling(table: progress.table, rows: progress.rowsPulled, total: progress.total))
            given?(progress)
        }
        let group = PullGroup(puller: puller, subscriptions: pulls.map(\.subscription), settings: settings)
        let results = await group.run()
        return zip(pulls, results).reduce(into: [:]) { failures, pair in
            let ((id, _), result) = pair
            var failure: SyncMachine.Failure?
            if case .failure(let error) = result {
                failure = SyncMachine.Failure(error)
                if error.code != .cancelled { pusher.options.logger.notice("\(error)") }
            }
            failures[id] = .some(failure)
        }
    }
}

extension SyncMachine.Event {
    /// Creates the event of a change of the store.
    fileprivate init(_ change: StoreObservers.Change) {
        switch change {
        case .edit: self = .localChange
        case .reset(table: let table?): self = .reset(table: table)
        case .reset(table: nil): self = .requested
        }
    }
}

extension SyncMachine.Failure {
    init(_ error: SyncError) {
        self.init(
            code: error.code, message: error.code == .network ? error.message : error.description,
            retryAfter: error.retryAfter, asksForPause: error.asksForPause,
            isDoubtful: error.isFromOther && error.status.map { (400..<500).contains($0) } == true)
    }
}
