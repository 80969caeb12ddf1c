internal import Synchronization

/// The sync that runs itself of one client: whether it runs, and its status.
final class SyncControl: Sendable {
    private struct State {
        var mailbox: SyncMailbox?
        /// The settings of the pulls of the sync.
        var pullSettings = PullSettings()
        /// The callers that wait until the sync has ended.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let status = StatusBoard()
    let tables = SubscribedTables()
    private let state = Mutex(State())

    /// Whether the current task runs within this sync, such as in a call of a delegate. It must not wait for the end.
    var isCurrent: Bool { CallScope.isWithin(self) }

    /// The settings of the pulls of the running sync.
    var pullSettings: PullSettings { state.withLock { $0.pullSettings } }

    /// Begins a sync.
    ///
    /// - Parameters:
    ///   - subscriptions: Its subscriptions. They are the first in the mailbox, so that any others replace them.
    ///   - pullSettings: The settings of its pulls.
    /// - Throws: ``SyncError`` with code invalidArgument if one is running.
    func begin(_ subscriptions: [SyncSubscription], pullSettings: PullSettings) throws -> SyncMailbox {
        try state.withLock { state in
            guard state.mailbox == nil else {
                throw SyncError(
                    .invalidArgument,
                    "a sync is already running; change its subscriptions with updateSubscriptions(_:), or stop it first"
                )
            }
            let mailbox = SyncMailbox()
            mailbox.post(.declared(subscriptions))
            (state.mailbox, state.pullSettings) = (mailbox, pullSettings)
            // A sync begins with a push.
            status.publish(.pushing(done: 0, total: 0))
            return mailbox
        }
    }

    /// Runs the sync that has begun, and ends it.
    func run(_ body: () async -> Void) async {
        await CallScope.run(for: self) { await body() }
        let waiting = state.withLock { state in
            defer { state = State() }
            // A reader of this status may begin another sync.
            status.publish(.stopped)
            return state.waiting
        }
        for caller in waiting { caller.resume() }
    }

    /// Passes an event to the running sync. Returns `false` if none is running.
    @discardableResult
    func post(_ event: SyncMachine.Event) -> Bool {
        guard let mailbox = state.withLock({ $0.mailbox }) else { return false }
        mailbox.post(event)
        return true
    }

    /// Lets the sync end. Returns `false` if none runs, or if it was ended before.
    @discardableResult
    func close() -> Bool { state.withLock { $0.mailbox }?.close() ?? false }

    /// Waits until no sync runs.
    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                guard state.mailbox != nil else { return true }
                state.waiting.append(continuation)
                return false
            }
            if hasEnded { continuation.resume() }
        }
    }
}
