#if Serve
internal import Synchronization
internal import Tideline
internal import TidelineStore
internal import TidelineSupport

/// The outcome of a sync of the list.
struct SyncOutcome: Sendable {
    /// The number of changes that the server has applied.
    var pushed = 0
    /// The progress of the pull, or `nil` before its first page.
    var pulled: PullProgress?
    /// The result of the pull, or `nil` if the sync failed.
    var result: PullResult?
    var error: SyncError?
    /// Whether the user pressed Ctrl-C.
    var wasInterrupted = false

    /// Whether to record the sync. One without changes writes nothing, not even its time, after one that succeeded.
    ///
    /// - Parameter last: The recorded result of the last sync, or `nil`.
    func isWorthNoting(after last: String?) -> Bool {
        let hadSucceeded = last.map { $0.hasPrefix("pushed ") || $0 == "watched: in sync" } ?? true
        return !hadSucceeded || error != nil || pushed > 0 || (result?.writes ?? 0) > 0
    }

    var summary: String {
        if wasInterrupted { return "interrupted: pushed \(pushed)" }
        guard let result else { return "failed: \(error?.message ?? "")" }
        return "pushed \(pushed), stored \(result.rowsStored), removed \(result.rowsRemoved)"
    }
}

/// Runs one sync of the list: pushes, then pulls, and shows progress. Ctrl-C cancels it with the requests in flight.
final class SyncRun: Sendable {
    private let state = Mutex(SyncOutcome())
    private let line = ProgressLine()
    private let start = ContinuousClock.now

    func outcome(of session: TodoSession<some LocalStore>, pageSize: Int) async -> SyncOutcome {
        var settings = PullSettings(pageSize: pageSize, whenPushFails: .pullOthers)
        settings.push.onProgress = { [self] in show($0) }
        settings.onProgress = { [self] in show($0) }
        // The pull pushes first. If no operations are pending, there is nothing to push.
        let (beginning, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task { [settings] in
            // Not before Ctrl-C can cancel it.
            for await _ in beginning {}
            return try await session.items.pull(queryID: "todo", settings: settings)
        }
        let interruption = Interruption { [self] in
            state.withLock { $0.wasInterrupted = true }
            task.cancel()
        }
        begin.finish()
        let result = await task.result
        interruption.end()
        line.clear()
        return state.withLock { outcome in
            switch result {
            case .success(let result): (outcome.result, outcome.wasInterrupted) = (result, false)
            case .failure(let error as SyncError): outcome.error = error
            case .failure(let error): outcome.error = SyncError(.store, "\(error)", cause: error)
            }
            return outcome
        }
    }

    private func show(_ progress: PushProgress) {
        state.withLock { $0.pushed = progress.sent }
        let done = progress.sent + progress.failed
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        var text = "pushed \(done) of \(counted(progress.total, "change"))"
        // A rate over less than a second would be inaccurate.
        if done > 0, seconds >= 1 {
            let rate = Double(done) / seconds
            text += ", \(Int(rate.rounded(.up)))/s, \(Int((Double(progress.total - done) / rate).rounded(.up))) s left"
        }
        line.show(text)
    }

    private func show(_ progress: PullProgress) {
        state.withLock { $0.pulled = progress }
        line.show("pulled \(counted(progress.rowsPulled, "row")) in \(counted(progress.pages, "request"))")
    }
}
#endif
