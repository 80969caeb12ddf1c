internal import TidelineStore

/// Waits for the pushes of other processes.
extension SyncContext {
    /// Waits until no other process pushes, or until it has not renewed its lease for so long that it must have ended.
    func waitForOthers(_ lease: PushLease) async throws {
        var wait = LeaseWait()
        while let other = try await reading({ try lease.other(in: $0) }) {
            if wait.note(other) { return lease.abandon(other) }
            do {
                try Task.checkCancellation()
                try await options.environment.sleep(LeaseWait.interval)
            } catch {
                throw SyncError(
                    .cancelled, "the task was cancelled while it waited for the push of another process", cause: error)
            }
        }
    }

    /// Runs a write transaction while no other process pushes. Waits for the push of another process.
    func writingBetweenPushes<T: Sendable>(
        _ body: @escaping @Sendable (Writer) throws -> T
    ) async throws -> T {
        guard let lease = makePushLease() else { return try await writing(body) }
        while true {
            let result: T? = try await writing { writer in
                guard try lease.take(in: writer) else { return nil }
                let result = try body(writer)
                try lease.release(in: writer)
                return result
            }
            if let result { return result }
            try await waitForOthers(lease)
        }
    }

    /// Throws if one of the operations is in flight in this process, or may be in another one.
    ///
    /// While another process holds the lease, each operation that was attempted since it last failed may be in flight there.
    func requireNotInFlight(_ pending: [TableOperation], table: String, in reader: some StoreReader) throws {
        let isHere = !clients.inFlight.isDisjoint(with: pending.map(\.id))
        guard try isHere || isInFlightElsewhere(pending, in: reader) else { return }
        let place = isHere ? "" : " in another process"
        throw SyncError(
            .operationInFlight, "an operation is in flight\(place); try again after the push ends", table: table)
    }

    /// Returns whether another process may have one of the operations in flight.
    func isInFlightElsewhere(_ pending: [TableOperation], in reader: some StoreReader) throws -> Bool {
        let attempted = pending.filter { $0.attempts > 0 }
        guard !attempted.isEmpty, try makePushLease()?.other(in: reader) != nil else { return false }
        return try attempted.contains { operation in
            try errorStore.record(of: operation.id, in: reader)?.attempts != operation.attempts
        }
    }
}

/// Keeps the lease while the push runs.
extension PushRun {
    /// The number of pauses that may end early before the clock and the pauses are known not to belong together.
    private static var maximumEarlyEnds: Int { 3 }

    /// Renews the lease until the task is cancelled, so that requests may take longer than the lease.
    ///
    /// The sleep of a test may return at once. The lease is then renewed only by the other transactions of the push.
    func keepRenewing(_ lease: PushLease) async {
        let environment = context.options.environment
        let interval = lease.renewalInterval
        var earlyEnds = 0
        while !Task.isCancelled, !lease.isLost, earlyEnds < Self.maximumEarlyEnds {
            let start = environment.now()
            guard (try? await environment.sleep(interval)) != nil else { return }
            // A clock that was set back does not count.
            let end = environment.now()
            earlyEnds = start <= end && end < start.advanced(by: interval / 2) ? earlyEnds + 1 : 0
            // A failure of the store ends the push, if it persists, in one of its own transactions.
            if lease.isDue { _ = try? await context.writing { try lease.confirm(in: $0) } }
        }
    }

    /// Throws if a request must not be sent: the push has been aborted, or another process has taken it over.
    ///
    /// A process that was suspended until its lease had expired finds out here.
    func confirmRequest() async throws {
        if lease?.isLost ?? false { throw SyncError.leaseLost }
        if isClosing.isSet { throw SyncError(.cancelled, "the push was aborted") }
        guard let lease, !lease.isCurrent else { return }
        guard try await context.writing({ try lease.confirm(in: $0) }) else { throw SyncError.leaseLost }
    }
}
