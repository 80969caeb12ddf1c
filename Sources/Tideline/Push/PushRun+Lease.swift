internal import TidelineStore

/// Keeps the lease while the push runs.
extension PushRun {
    /// The number of pauses that may end early before the clock and the pauses are known not to belong together.
    private static var maximumEarlyEnds: Int { 3 }

    /// Renews the lease until the task is cancelled, so that requests may take longer than the lease.
    ///
    /// The sleep of a test may return at once. The lease is then renewed only by the other transactions of the push.
    func keepRenewing(_ lease: PushLease) async {
        let environment = pusher.options.environment
        let interval = lease.renewalInterval
        var earlyEnds = 0
        while !Task.isCancelled, !lease.isLost, earlyEnds < Self.maximumEarlyEnds {
            let start = environment.now()
            guard (try? await environment.sleep(interval)) != nil else { return }
            // A clock that was set back does not count.
            let end = environment.now()
            earlyEnds = start <= end && end < start.advanced(by: interval / 2) ? earlyEnds + 1 : 0
            // A failure of the store ends the push, if it persists, in one of its own transactions.
            if lease.isDue { _ = try? await pusher.database.writing { try lease.confirm(in: $0) } }
        }
    }

    /// Throws if a request must not be sent: the push has been aborted, or another process has taken it over.
    ///
    /// A process that was suspended until its lease had expired finds out here.
    static func confirmRequest(
        _ database: SyncDatabase<Store>, _ lease: PushLease?, _ isClosing: Flag
    ) async throws {
        if lease?.isLost ?? false { throw SyncError.leaseLost }
        if isClosing.isSet { throw SyncError(.cancelled, "the push was aborted") }
        guard let lease, !lease.isCurrent else { return }
        guard try await database.writing({ try lease.confirm(in: $0) }) else { throw SyncError.leaseLost }
    }
}
