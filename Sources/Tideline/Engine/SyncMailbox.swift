internal import Synchronization

/// Passes the events of a sync to its loop. Triggers that arrive before they are taken are merged, so that no number of
/// them takes more memory.
final class SyncMailbox: Sendable {
    fileprivate struct State {
        var hasLocalChange = false
        var isRequested = false
        var isSignedIn = false
        var changed: Set<String?> = []
        var reset: Set<String> = []
        /// Whether a network is available, and whether there was none since the reports were last taken.
        var network: (isAvailable: Bool, wasLost: Bool)?
        var subscriptions: [SyncSubscription]?
        /// The ends of timers, pushes, pulls, and signals, which the loop has started.
        var ends: [SyncMachine.Event] = []
        var isClosed = false
        var taker: CheckedContinuation<Void, Never>?

        var isEmpty: Bool {
            !hasLocalChange && !isRequested && !isSignedIn && changed.isEmpty && reset.isEmpty && network == nil
                && subscriptions == nil && ends.isEmpty
        }
    }

    private let state = Mutex(State())

    func post(_ event: SyncMachine.Event) {
        let taker = state.withLock { state in
            state.add(event)
            return state.taker.take()
        }
        taker?.resume()
    }

    /// Ends the loop. Returns `false` if it was ended before.
    @discardableResult
    func close() -> Bool {
        let (taker, wasClosed) = state.withLock { state in
            defer { state.isClosed = true }
            return (state.taker.take(), state.isClosed)
        }
        taker?.resume()
        return !wasClosed
    }

    /// Returns all events, as soon as there is at least one, or `nil` if the mailbox is closed or the task is
    /// cancelled.
    func takeAll() async -> [SyncMachine.Event]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.isEmpty || state.isClosed { return true }
                    state.taker = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            close()
        }
        return state.withLock { $0.isClosed ? nil : $0.takeEvents() }
    }
}

extension SyncMailbox.State {
    fileprivate mutating func add(_ event: SyncMachine.Event) {
        switch event {
        case .localChange: hasLocalChange = true
        case .requested: isRequested = true
        case .signedIn: isSignedIn = true
        case .changed(let table): changed.insert(table)
        case .reset(let table): reset.insert(table)
        case .network(let isAvailable): network = (isAvailable, network?.wasLost == true || !isAvailable)
        case .declared(let list): subscriptions = list
        case .fired, .pushed, .pulled, .signalsEnded: ends.append(event)
        }
    }

    /// Returns all events. The mailbox is not closed, and no taker waits.
    fileprivate mutating func takeEvents() -> [SyncMachine.Event] {
        var events = ends
        if let subscriptions { events.append(.declared(subscriptions)) }
        if let network {
            if network.wasLost { events.append(.network(isAvailable: false)) }
            if network.isAvailable { events.append(.network(isAvailable: true)) }
        }
        if isSignedIn { events.append(.signedIn) }
        if isRequested { events.append(.requested) }
        if hasLocalChange { events.append(.localChange) }
        events += changed.sorted { $0 ?? "" < $1 ?? "" }.map { .changed(table: $0) }
        events += reset.sorted().map { .reset(table: $0) }
        self = SyncMailbox.State()
        return events
    }
}
