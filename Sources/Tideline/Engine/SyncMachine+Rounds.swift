internal import TidelineStore

/// The rounds of a sync: a push, and then the pulls.
extension SyncMachine {
    /// The operations that failed on the server so often that they are not sent again.
    var poison: Set<Int64> {
        Set(serverFailures.lazy.filter { $0.value >= Self.maximumServerFailures }.map(\.key))
    }

    /// The number of failed operations that are sent again.
    private var retriedCount: Int { serverFailures.values.count { $0 < Self.maximumServerFailures } }

    /// Begins a round if something is due, or shows that everything is in step.
    mutating func advance(_ step: inout Step) {
        switch phase {
        case .pushing, .pulling: return
        case .offline(_, let message, let nextTry):
            return step.actions.append(.publish(.offline(message: message, nextTry: nextTry)))
        case .needsSignIn: return step.actions.append(.publish(.needsSignIn))
        case .resting: break
        }
        remaining = Set(entries.lazy.filter(\.isDue).map(\.id))
        guard !remaining.isEmpty || canPush else { return step.actions.append(.publish(restingStatus)) }
        (isAnswered, hasTriedOther) = (false, false)
        // The push of a round also sends the changes of other processes that share the store.
        if pushFailure == nil { isPushWanted = true }
        continueRound(&step)
    }

    private var canPush: Bool { isPushWanted && pushFailure.map { $0.code == .network } ?? true }

    /// Continues a round with the next push or group of pulls, or ends it.
    private mutating func continueRound(_ step: inout Step) {
        hasSignedIn = false
        // Pulls follow each push, so that local changes that keep coming do not hold them back. At the end of a round,
        // the next one pushes.
        let pushes = pullsFirst ? remaining.isEmpty : phase == .resting || (phase == .pulling && !remaining.isEmpty)
        if canPush, pushes {
            (isPushWanted, pullsFirst) = (false, false)
            phase = .pushing
            step.actions.append(.push(failureRetry))
            latestRetry = failureRetry
            failureRetry = .none
            return
        }
        let group = nextGroup()
        guard !group.isEmpty else {
            phase = .resting
            idleSince = step.now
            // A server that is reached again also signals again.
            if networkFailures > 0 { recover() }
            networkFailures = 0
            return
        }
        pull(group, &step)
    }

    private mutating func pull(_ group: [Entry], _ step: inout Step) {
        remaining.subtract(group.map(\.id))
        for entry in group {
            if let index = index(of: entry.id) { entries[index].isDue = false }
        }
        phase = .pulling
        step.actions.append(.publish(.pulling(table: group[0].subscription.table, rows: 0, total: nil)))
        step.actions.append(.pull(group.map { ($0.id, $0.subscription) }))
    }

    /// Returns the remaining subscriptions with the highest priority, suspects last.
    private func nextGroup() -> [Entry] {
        let waiting = entries.filter { remaining.contains($0.id) }
        let highest = waiting.map(\.subscription.priority).max()
        let group = waiting.filter { $0.subscription.priority == highest }
        return group.filter { !$0.isSuspect } + group.filter(\.isSuspect)
    }

    /// The status while nothing is due.
    private var restingStatus: SyncStatus {
        if let pushFailure { return .failing(pushFailure, nextTry: pushRetryTime ?? idleSince) }
        let failing = entries.filter { $0.failure != nil }.max { $0.subscription.priority < $1.subscription.priority }
        if let failing, let failure = failing.failure {
            guard entries.allSatisfy({ $0.failure?.code == .network }) else {
                return .failing(failure, nextTry: failing.nextTry)
            }
            return .offline(message: failure.message, nextTry: failing.nextTry)
        }
        let retried = retriedCount
        if unresolved.count > retried { return .needsAttention(operationErrors: unresolved.count - retried) }
        if retried > 0 {
            let message = "\(retried == 1 ? "1 operation fails" : "\(retried) operations fail"), and will be sent again"
            return .failing(
                Failure(code: .completedWithErrors, message: message), nextTry: pushRetryTime ?? idleSince)
        }
        return .idle(since: idleSince)
    }

    // MARK: Push

    mutating func finishPush(_ outcome: PushOutcome, _ step: inout Step) {
        note(outcome)
        pushFailure = nil
        // An answer before a failure of the network does not show that the service is still there.
        if outcome.failure?.code != .network, outcome.isAnswered { isAnswered = true }
        if outcome.mayHaveSentNothing { repeatRetry() }
        switch outcome.failure?.code {
        case .network? where outcome.isAnswered && outcome.failure?.asksForPause == false:
            // Some operations keep the others back, and nothing else.
            repeatRetry()
            pushFailure = outcome.failure
            retryPush(&step)
        case .network?, .authentication?:
            isPushWanted = true
            repeatRetry()
            if outcome.failure?.code == .authentication { return needSignIn(&step) }
            goOffline(message: outcome.failure?.message ?? "", retryAfter: outcome.failure?.retryAfter, &step)
            pullsFirst = outcome.failure?.asksForPause == true
            return
        // The next push waits until the process that has taken over has ended its own, or is that of the new user.
        case .otherProcess?,
            .otherUser? where hasSignedIn:
            isPushWanted = true
            repeatRetry()
        // The delegate has cancelled the push. The operations that were not sent wait for the next round.
        case nil, .cancelled?:
            if serverFailures.isEmpty { pushFailures = 0 }
        case .some:
            // No push is made in this and later rounds until the retry.
            isPushWanted = true
            pushFailure = outcome.failure
            retryPush(&step)
        }
        if retriedCount > 0 { retryPush(&step) }
        continueRound(&step)
    }

    /// Lets the next push send the failed operations that the latest one should have sent.
    mutating func repeatRetry() {
        if failureRetry == .none { failureRetry = latestRetry }
    }

    private mutating func note(_ outcome: PushOutcome) {
        unresolved = outcome.unresolved
        for id in outcome.failedOnServer { serverFailures[id, default: 0] += 1 }
        for id in outcome.delayed.union(outcome.newFailures) { serverFailures[id] = 1 }
        serverFailures = serverFailures.filter { unresolved.contains($0.key) }
    }

    /// Schedules another push, unless one is scheduled already.
    private mutating func retryPush(_ step: inout Step) {
        guard pushRetryTime == nil else { return }
        pushFailures += 1
        let delay = retryDelay(failures: pushFailures, random: step.random)
        pushRetryTime = step.now.advanced(by: delay)
        step.schedule(.pushRetry, delay)
    }

    // MARK: Pull

    mutating func finishPulls(_ results: [Int: Failure?], _ step: inout Step) {
        if results.values.contains(where: { $0 == nil }) { isAnswered = true }
        let codes = Set(results.values.compactMap { $0?.code })
        let isForEarlierUser = hasSignedIn && codes.contains(.otherUser)
        let isAborted = codes.contains(.network) || codes.contains(.authentication) || isForEarlierUser
        for (id, failure) in results.sorted(by: { $0.key < $1.key }) {
            guard let index = index(of: id) else { continue }
            // A subscription that has failed alone still does.
            let isAlone = isAnswered || entries[index].failures > 0
            switch (failure, failure?.code) {
            case (nil, _): succeed(at: index, &step)
            case (let failure?, .network?) where failure.asksForPause || !isAlone: unreached[id] = failure
            // The failure of another pull of the group has cancelled this one, or kept it from beginning.
            case (_, .authentication?),
                (_, .otherUser?) where isForEarlierUser,
                (_, .cancelled?) where isAborted:
                entries[index].isDue = true
            case (let failure?, _): fail(at: index, with: failure, &step)
            }
        }
        if codes.contains(.authentication) { return needSignIn(&step) }
        decideAboutUnreached(&step)
    }

    /// Lets the subscriptions that were not answered fail alone if the service has responded to anything else in this
    /// round. If it has not, one more subscription finds out whether it is there.
    private mutating func decideAboutUnreached(_ step: inout Step) {
        let failures = unreached.sorted { $0.key < $1.key }
        let asksForPause = failures.contains { $0.value.asksForPause }
        if failures.isEmpty || isAnswered && !asksForPause {
            for (id, failure) in failures {
                if let index = index(of: id) { fail(at: index, with: failure, &step) }
            }
            unreached = [:]
            return continueRound(&step)
        }
        let others = hasTriedOther || asksForPause ? [] : entries.filter { remaining.contains($0.id) }
        let order = { (entry: Entry) in (entry.isSuspect ? 1 : 0, -entry.subscription.priority) }
        if let other = others.min(by: { order($0) < order($1) }) {
            hasTriedOther = true
            return pull([other], &step)
        }
        goOffline(
            message: failures[0].value.message, retryAfter: failures.compactMap(\.value.retryAfter).max(), &step)
    }

    /// Ends the round before its end. Its rest is due in the next one.
    mutating func endRound() {
        remaining = []
        for index in entries.indices where unreached[entries[index].id] != nil {
            entries[index].isDue = true
            entries[index].isSuspect = true
        }
        unreached = [:]
    }

    /// Ends the round until a sign-in, a report of the network, or the greatest delay. If there was a sign-in during
    /// the push or pull that failed, another round begins.
    private mutating func needSignIn(_ step: inout Step) {
        endRound()
        phase = hasSignedIn ? .resting : .needsSignIn
        guard !hasSignedIn else { return }
        signInCount += 1
        step.schedule(.signIn(signInCount), settings.maximumRetryDelay)
    }

    /// Notes that a server that failed for reads too, or was out of reach, has recovered. The operations on which it
    /// failed are sent once more, and its change signals are asked for again.
    private mutating func recover() {
        signals.startOver()
        let failed = poison
        guard !failed.isEmpty else { return }
        for id in failed { serverFailures[id] = Self.maximumServerFailures - 1 }
        if failureRetry != .all { failureRetry = .failedOnServer(except: []) }
        isPushWanted = true
    }

    private mutating func succeed(at index: Int, _ step: inout Step) {
        if entries[index].failures > 0 { recover() }
        entries[index].failures = 0
        entries[index].failure = nil
        entries[index].isSuspect = false
        entries[index].startInterval(&step)
    }

    /// Lets a subscription wait for its own retry. The others continue.
    private mutating func fail(at index: Int, with failure: Failure, _ step: inout Step) {
        entries[index].failures += 1
        let delay = retryDelay(
            failures: entries[index].failures, retryAfter: failure.retryAfter, random: step.random)
        entries[index].failure = failure
        // The service was there, so that the response is its own.
        if failure.isDoubtful { entries[index].failure?.code = .rejected }
        entries[index].isSuspect = false
        entries[index].nextTry = step.now.advanced(by: delay)
        step.schedule(.pullRetry(entries[index].id), delay)
    }
}

extension SyncStatus {
    fileprivate static func failing(_ failure: SyncMachine.Failure, nextTry: Timestamp) -> SyncStatus {
        .failing(code: failure.code, message: failure.message, nextTry: nextTry)
    }
}
