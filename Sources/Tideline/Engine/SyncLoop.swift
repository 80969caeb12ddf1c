internal import Logging
internal import TidelineStore

/// Performs the actions that ``SyncMachine`` decides on, until it is stopped or cancelled.
///
/// Everything runs in child tasks of the caller, on its executor. When the loop has ended, nothing is in flight.
struct SyncLoop<Store: LocalStore>: Sendable {
    let context: SyncContext<Store>
    let settings: SyncSettings
    let mailbox: SyncMailbox
    let status: StatusBoard
    private let tables = SubscribedTables()
    /// The change signals of the dialect that are not listened to yet.
    private let offered = LockedValue<ChangeSignals?>(nil)

    private var environment: SyncEnvironment { context.options.environment }

    func run(_ subscriptions: [SyncSubscription]) async {
        context.localChanges.observe { [mailbox] in mailbox.post(.localChange) }
        mailbox.post(.declared(subscriptions))
        tables.update(to: subscriptions)
        let signals = makeSignals()
        offered.withLock { $0 = signals }
        await withDiscardingTaskGroup { group in
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
        context.localChanges.observe(nil)
    }

    private func perform(_ action: SyncMachine.Action, _ group: inout DiscardingTaskGroup) {
        switch action {
        case .publish(let value): status.publish(value)
        case .push(let retry): group.addTask { mailbox.post(.pushed(await push(retry))) }
        case .pull(let pulls): group.addTask { mailbox.post(.pulled(await pull(pulls))) }
        case .listen(let number):
            group.addTask {
                var end = SyncMachine.SignalsEnd()
                if let signals = offered.withLock({ $0.take() }) ?? makeSignals() { end = await listen(to: signals) }
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
        return context.family.changeSignals(
            over: DialectConnection(connection: context.connection, subscribed: tables))
    }

    private func listen(to monitor: any ConnectivityMonitor) async {
        for await isAvailable in monitor.reports() { mailbox.post(.network(isAvailable: isAvailable)) }
    }

    /// Passes on the names of tables. A sequence that never waits is slowed down.
    private func listen(to signals: ChangeSignals) async -> SyncMachine.SignalsEnd {
        var count = 0
        var end = SyncMachine.SignalsEnd()
        do {
            try await signals.read { name in
                try Task.checkCancellation()
                mailbox.post(.changed(table: name))
                count += 1
                if count.isMultiple(of: Self.signalsAtOnce) { try await environment.sleep(Self.signalPause) }
            }
            if !Task.isCancelled { context.options.logger.notice("the change signals have ended") }
        } catch is TableServiceSignals.NotSupported {
            context.options.logger.debug("the server has no change signal")
            end.isUnsupported = true
        } catch {
            if !Task.isCancelled { context.options.logger.notice("the change signals have ended: \(error)") }
            end.retryAfter = (error as? SyncError)?.retryAfter
        }
        end.canContinue = tables.position.withLock { $0.cursor != nil }
        return end
    }

    /// The statuses of failures that end by themselves: a table that is missing may be there with the next version of the service,
    /// and a server that is not available comes back.
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
            if try await context.hasOperations(toSendWith: settings) {
                outcome = await send(settings)
            }
            outcome.unresolved = try await context.unresolvedOperations()
        } catch {
            outcome.failure = outcome.failure ?? SyncMachine.Failure(context.syncError(error))
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
            try await context.push(settings: settings)
            return SyncMachine.PushOutcome()
        } catch {
            let error = context.syncError(error)
            var outcome = SyncMachine.PushOutcome()
            if error.code != .completedWithErrors {
                outcome.failure = SyncMachine.Failure(error)
                if error.code != .cancelled { context.options.logger.notice("\(error)") }
            }
            for failed in error.operationErrors {
                context.options.logger.warning("\(failed)")
                if failed.code == .serverFailed, failed.status.map(Self.passingStatuses.contains) == true {
                    outcome.delayed.insert(failed.operationID)
                } else if failed.record.isRetried(context.policies.policy(for: failed.table)) {
                    outcome.failedOnServer.insert(failed.operationID)
                }
            }
            return outcome
        }
    }

    // MARK: Pull

    private func pull(_ pulls: [(id: Int, subscription: SyncSubscription)]) async -> [Int: SyncMachine.Failure?] {
        var settings = settings.pull
        settings.pushesFirst = false
        let given = settings.onProgress
        settings.onProgress = { [status] progress in
            status.publish(.pulling(table: progress.table, rows: progress.rowsPulled, total: progress.total))
            given?(progress)
        }
        let group = PullGroup(context: context, subscriptions: pulls.map(\.subscription), settings: settings)
        let results = await group.run()
        return zip(pulls, results).reduce(into: [:]) { failures, pair in
            let ((id, _), result) = pair
            var failure: SyncMachine.Failure?
            if case .failure(let error) = result {
                failure = SyncMachine.Failure(error)
                if error.code != .cancelled { context.options.logger.notice("\(error)") }
            }
            failures[id] = .some(failure)
        }
    }
}

extension SyncMachine.Failure {
    init(_ error: SyncError) {
        self.init(
            code: error.code, message: error.code == .network ? error.message : error.description,
            retryAfter: error.retryAfter,
            isDoubtful: error.isFromOther && error.status.map { (400..<500).contains($0) } == true)
    }
}

extension SyncContext {
    /// Returns whether a push with these settings would send an operation.
    fileprivate func hasOperations(toSendWith settings: PushSettings) async throws -> Bool {
        let (operations, errorStore, policies) = (operations, errorStore, policies)
        return try await reading { reader in
            let count = try operations.count(in: reader)
            guard count > 0 else { return false }
            let held = try errorStore.all(in: reader).count {
                $0.isHeld(by: settings, policies.policy(for: $0.table))
            }
            return count > held
        }
    }

    /// Returns the numbers of all operations with an unresolved error.
    fileprivate func unresolvedOperations() async throws -> Set<Int64> {
        let errorStore = errorStore
        return Set(try await reading { try errorStore.all(in: $0).map(\.operationID) })
    }
}
