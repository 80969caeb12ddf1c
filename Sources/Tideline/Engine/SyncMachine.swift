internal import TidelineStore

/// Decides when a sync that runs itself pushes and pulls, when it tries again, and its status. A pure state machine,
/// without store, network, or clock.
///
/// One round runs at a time: a push, and then the pulls of all subscriptions that are due, in order of priority.
/// Triggers during a round lead to one more round. All delays are timers that the caller runs, so that no jump of the
/// clock has an effect; the time is only shown in the status.
struct SyncMachine: Sendable {
    /// An event of the sync.
    enum Event: Sendable {
        /// The app declares its subscriptions, at the start or later.
        case declared([SyncSubscription])
        /// A local change was committed.
        case localChange
        /// The app asks for a sync.
        case requested
        /// The app has a new signed-in user.
        case signedIn
        /// The server reports that a table has changed, or perhaps any of them (`nil`).
        case changed(table: String?)
        /// The rows and tokens of a table were reset, so its pulls begin with the first row.
        case reset(table: String)
        /// The connectivity monitor reports whether a network is available.
        case network(isAvailable: Bool)
        /// A timer has ended.
        case fired(Timer)
        /// A push has ended.
        case pushed(PushOutcome)
        /// The pulls of a group have ended. The results are those of ``Action/pull(_:)``, by subscription.
        case pulled([Int: Failure?])
        /// The change signals of the dialect have ended, or failed; those of ``Action/listen(_:)`` with the same
        /// number.
        case signalsEnded(Int, SignalsEnd = SignalsEnd())
    }

    /// A delay that the machine asked for.
    enum Timer: Sendable, Hashable {
        /// The delay of a push after a local change.
        case pushDelay
        /// The delay of a push that failed, or of operations that failed on the server.
        case pushRetry
        /// The interval of a subscription, and the number of times that it had changed.
        case interval(Int, changes: Int)
        /// The delay of a subscription whose pull failed.
        case pullRetry(Int)
        /// The minimum time between two pulls of a subscription after change signals.
        case signal(Int)
        /// The delay of a round while offline, by its number.
        case offline(Int)
        /// The delay of a round while a sign-in is needed, by its number.
        case signIn(Int)
        /// The minimum time between two rounds after reports of the connectivity monitor.
        case network
        /// The delay before the dialect's change signals are asked for again, by the number of those that ended.
        case signalRetry(Int)
        /// The time after which change signals are considered to work, by their number.
        case signalsWork(Int)
    }

    /// An action of the caller.
    enum Action: Sendable {
        /// Push, and report ``Event/pushed(_:)``.
        case push(FailureRetry)
        /// Pull these subscriptions side by side, and report ``Event/pulled(_:)``.
        case pull([(id: Int, subscription: SyncSubscription)])
        /// Listen to the change signals of the dialect, and report ``Event/signalsEnded(_:)``.
        case listen(Int)
        /// Report ``Event/fired(_:)`` after a delay.
        case schedule(Timer, Duration)
        /// Show a status.
        case publish(SyncStatus)
    }

    /// A failure of a push or pull.
    struct Failure: Sendable, Hashable {
        var code: SyncError.Code
        var message = ""
        /// The delay that the server asked for.
        var retryAfter: Duration?
        /// Whether nothing is sent before the end of that delay.
        var asksForPause = false
        /// Whether the service may have given the response, as one without the table does.
        var isDoubtful = false
    }

    /// The result of a push.
    struct PushOutcome: Sendable, Hashable {
        /// The error that ended the push before it had attempted every operation, or `nil` if there was none.
        var failure: Failure?
        /// Whether the service has responded to an operation, or to the list of a table.
        var isAnswered = false
        /// The operations that failed on the server in this push, or whose conflict a policy may resolve.
        var failedOnServer: Set<Int64> = []
        /// Those of them that had no error before the push: they are new, or have changed since they failed.
        var newFailures: Set<Int64> = []
        /// The operations that failed on the server for a reason that ends by itself. They are always sent again.
        var delayed: Set<Int64> = []
        /// All operations with an unresolved error.
        var unresolved: Set<Int64> = []

        /// Whether the store, or the delegate before an answer, ended the push, perhaps before it sent anything.
        var mayHaveSentNothing: Bool { failure?.code == .store || failure?.code == .cancelled && !isAnswered }
    }

    /// The end of change signals.
    struct SignalsEnd: Sendable, Hashable {
        /// Whether the server has none. It is asked again after ``SyncMachine/unsupportedDelay``.
        var isUnsupported = false
        /// Whether the next signals begin where these ended, so that no change is missed.
        var canContinue = false
        /// The delay that the server asked for.
        var retryAfter: Duration?
    }

    struct Settings: Sendable {
        var pushDelay: Duration = .milliseconds(200)
        var initialRetryDelay: Duration = .seconds(1)
        var maximumRetryDelay: Duration = .seconds(300)
        /// Whether the dialect may signal changes.
        var hasSignals = false
    }

    /// The number of pushes in which an operation may fail on the server before it is not sent again.
    static let maximumServerFailures = 5
    /// The number of times that a push is delayed while local changes keep coming.
    static let maximumPushDelays = 5
    /// The minimum time between two pulls of a subscription after change signals.
    static let signalInterval = Duration.seconds(1)
    /// The time after which change signals are considered to work, so that their end is not a repeated failure.
    static let signalTrial = Duration.seconds(60)
    /// The time after which a server without change signals is asked again, as it may have been updated.
    static let unsupportedDelay = Duration.seconds(3_600)

    enum Phase: Sendable, Hashable {
        case resting
        case pushing
        case pulling
        case offline(number: Int, message: String, nextTry: Timestamp)
        case needsSignIn
    }

    struct Entry: Sendable {
        let id: Int
        var subscription: SyncSubscription
        var isDue = true
        /// Whether the timer of the interval runs.
        var hasInterval = false
        /// The number of times that the interval has changed. The timers of earlier intervals are ignored.
        var intervalChanges = 0
        /// The number of failed pulls since the last that succeeded, without those while offline.
        var failures = 0
        var failure: Failure?
        var nextTry = Timestamp.min
        /// Whether a round that nothing was answered in has ended after this pull. Others are then pulled first.
        var isSuspect = false
        /// Whether a change signal led to a pull within the last ``signalInterval``, and whether another one came
        /// since.
        var signal: (isRecent: Bool, isRepeated: Bool) = (false, false)

        /// Makes the pull due, as if it had not failed.
        mutating func startOver() { (isDue, failures, failure) = (true, 0, nil) }

        /// Replaces the subscription by one of the same pull.
        mutating func update(to subscription: SyncSubscription, _ step: inout Step) {
            if !self.subscription.hasSameRows(as: subscription) {
                isDue = true
                failure = nil
            }
            let hasSameInterval = self.subscription.interval == subscription.interval
            self.subscription = subscription
            guard !hasSameInterval else { return }
            intervalChanges += 1
            hasInterval = false
            startInterval(&step)
        }

        /// Starts the timer of the interval, unless it runs or the subscription has none.
        mutating func startInterval(_ step: inout Step) {
            guard !hasInterval, let interval = subscription.interval else { return }
            hasInterval = true
            step.schedule(.interval(id, changes: intervalChanges), interval)
        }
    }

    let settings: Settings
    var phase = Phase.resting
    var entries: [Entry] = []
    /// The subscriptions of the current round that are not pulled yet.
    var remaining: Set<Int> = []
    /// Whether the service has responded in the current round.
    var isAnswered = false
    /// The pulls of the current round that did not reach the service, or found it not available, before it had
    /// responded to anything.
    var unreached: [Int: Failure] = [:]
    /// Whether one more subscription was pulled to find out whether the service is there.
    var hasTriedOther = false
    /// The end of the latest round.
    var idleSince = Timestamp.min
    private var nextID = 0

    // The push.
    var isPushWanted = true
    /// The failed operations that the next push sends again, and those of the latest one. Those that the server
    /// rejected are sent again once after each start: the server, the app, or the answer of something in between may
    /// have been the reason.
    var failureRetry = FailureRetry.all
    var latestRetry = FailureRetry.none
    /// Whether the next round pulls before it pushes: the server asked for a delay, perhaps for one operation that it
    /// answers in this way each time.
    var pullsFirst = false
    var pushFailures = 0
    /// The failure after which no push is made until a retry; after one of the network, none but for local changes.
    var pushFailure: Failure?
    var pushRetryTime: Timestamp?
    /// The state of the delay after a local change: the number of delays so far, and whether a change came in this one.
    var pushDelay: (count: Int, isRepeated: Bool)?
    /// The number of pushes in which each operation has failed on the server since it last changed.
    var serverFailures: [Int64: Int] = [:]
    var unresolved: Set<Int64> = []

    /// Whether the app has signed in since the latest push or group of pulls began.
    var hasSignedIn = false

    // The network.
    private var offlineCount = 0
    var networkFailures = 0
    private var isNetworkAvailable = true
    /// Whether a report was followed within the last ``Settings/initialRetryDelay``, and whether another one came
    /// since.
    private var report: (isRecent: Bool, isRepeated: Bool) = (false, false)
    /// Whether the network was available again since the latest round after a report.
    private var hasReconnected = false
    /// The number of times that a sign-in was needed.
    var signInCount = 0

    /// The state of the dialect's change signals.
    var signals = Signals()

    init(settings: Settings = Settings()) { self.settings = settings }

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - now: The time to show in the status.
    ///   - random: Returns a random number from 0 to 1.
    mutating func handle(_ event: Event, at now: Timestamp, random: @escaping () -> Double) -> [Action] {
        var step = Step(now: now, random: random)
        switch event {
        case .declared(let subscriptions): declare(subscriptions, &step)
        case .localChange: delayPush(&step)
        case .requested: startOver(sendsFailed: true)
        case .signedIn: noteSignIn()
        case .changed(let table): noteSignal(of: table, &step)
        case .reset(let table):
            for index in entries.indices where entries[index].subscription.table == table { entries[index].startOver() }
        case .network(let isAvailable): noteNetwork(isAvailable, &step)
        case .fired(let timer): fire(timer, &step)
        case .pushed(let outcome): finishPush(outcome, &step)
        case .pulled(let results): finishPulls(results, &step)
        case .signalsEnded(let number, let end): noteSignalsEnded(number, end, &step)
        }
        listen(&step)
        advance(&step)
        return step.actions
    }

    /// The actions of one event, and what they need.
    struct Step {
        let now: Timestamp
        let random: () -> Double
        var actions: [Action] = []

        mutating func schedule(_ timer: Timer, _ delay: Duration) { actions.append(.schedule(timer, delay)) }
    }

    // MARK: Triggers

    private mutating func declare(_ subscriptions: [SyncSubscription], _ step: inout Step) {
        let known = entries
        entries = subscriptions.map { subscription in
            if var entry = known.first(where: { $0.subscription.isSamePull(as: subscription) }) {
                entry.update(to: subscription, &step)
                return entry
            }
            nextID += 1
            return Entry(id: nextID, subscription: subscription)
        }
        remaining.formIntersection(entries.map(\.id))
    }

    /// Continues what waited for a sign-in, or failed because another user was signed in.
    private mutating func noteSignIn() {
        hasSignedIn = true
        if phase == .needsSignIn { phase = .resting }
        signals.startOver()
        if pushFailure?.code == .otherUser {
            (pushFailure, pushFailures, pushRetryTime) = (nil, 0, nil)
            repeatRetry()
        }
        // The first failure for another user cancels the other pulls of its group.
        for index in entries.indices {
            guard let code = entries[index].failure?.code, code == .otherUser || code == .cancelled else { continue }
            entries[index].startOver()
        }
    }

    private mutating func delayPush(_ step: inout Step) {
        guard pushDelay == nil else {
            pushDelay?.isRepeated = true
            return
        }
        pushDelay = (1, false)
        step.schedule(.pushDelay, settings.pushDelay)
    }

    private mutating func noteSignal(of table: String?, _ step: inout Step) {
        for index in entries.indices where table.map({ $0 == entries[index].subscription.table }) ?? true {
            // A failing subscription waits for its retry.
            guard entries[index].failure == nil else { continue }
            if entries[index].signal.isRecent {
                entries[index].signal.isRepeated = true
            } else {
                followSignal(at: index, &step)
            }
        }
    }

    private mutating func followSignal(at index: Int, _ step: inout Step) {
        entries[index].isDue = true
        entries[index].signal = (true, false)
        step.schedule(.signal(entries[index].id), Self.signalInterval)
    }

    private mutating func noteNetwork(_ isAvailable: Bool, _ step: inout Step) {
        let isNew = isAvailable && !isNetworkAvailable
        isNetworkAvailable = isAvailable
        if isAvailable, signals.state == .unsupported { signals.startOver() }
        guard isAvailable, isNew || isFailing else { return }
        hasReconnected = hasReconnected || isNew
        if report.isRecent {
            report.isRepeated = true
        } else {
            followReport(&step)
        }
    }

    private mutating func followReport(_ step: inout Step) {
        report = (true, false)
        step.schedule(.network, settings.initialRetryDelay)
        startOver(sendsFailed: hasReconnected)
        hasReconnected = false
    }

    private var isFailing: Bool {
        switch phase {
        case .offline, .needsSignIn: return true
        case .resting, .pushing, .pulling: break
        }
        return pushFailure != nil || signals.state == .waiting || entries.contains { $0.failure != nil }
    }

    /// Makes everything due, without the delays of earlier failures.
    private mutating func startOver(sendsFailed: Bool) {
        networkFailures = 0
        pushFailures = 0
        pushFailure = nil
        pushRetryTime = nil
        isPushWanted = true
        signals.startOver()
        if sendsFailed {
            serverFailures = [:]
            failureRetry = .all
        }
        for index in entries.indices { entries[index].startOver() }
        switch phase {
        case .offline, .needsSignIn: phase = .resting
        case .resting, .pushing, .pulling: break
        }
    }

    // MARK: Timers

    private mutating func fire(_ timer: Timer, _ step: inout Step) {
        switch timer {
        case .pushDelay: endPushDelay(&step)
        case .pushRetry:
            pushRetryTime = nil
            pushFailure = nil
            isPushWanted = true
            if failureRetry == .none { failureRetry = .failedOnServer(except: poison) }
        case .interval(let id, let changes):
            guard let index = index(of: id), entries[index].intervalChanges == changes else { return }
            entries[index].hasInterval = false
            if entries[index].failure == nil { entries[index].isDue = true }
        case .pullRetry(let id):
            guard let index = index(of: id), entries[index].failure != nil else { return }
            entries[index].failure = nil
            entries[index].isDue = true
        case .signal(let id):
            guard let index = index(of: id) else { return }
            let isRepeated = entries[index].signal.isRepeated
            entries[index].signal = (false, false)
            if isRepeated, entries[index].failure == nil { followSignal(at: index, &step) }
        case .offline(let number):
            if case .offline(number, _, _) = phase { phase = .resting }
        case .signIn(signInCount):
            if phase == .needsSignIn { phase = .resting }
        case .signIn: break
        case .network:
            let isRepeated = report.isRepeated
            report = (false, false)
            if isRepeated, isNetworkAvailable { followReport(&step) }
        case .signalRetry(let number): signals.retry(number)
        case .signalsWork(let number): signals.work(number)
        }
    }

    private mutating func endPushDelay(_ step: inout Step) {
        guard let delay = pushDelay else { return }
        if delay.isRepeated, delay.count < Self.maximumPushDelays {
            pushDelay = (delay.count + 1, false)
            step.schedule(.pushDelay, settings.pushDelay)
        } else {
            pushDelay = nil
            isPushWanted = true
        }
    }

    func index(of id: Int) -> Int? { entries.firstIndex { $0.id == id } }

    /// Returns the delay after a number of failures.
    func retryDelay(failures: Int, retryAfter: Duration? = nil, random: () -> Double) -> Duration {
        // The delay is limited first, so that no number of failures overflows.
        let doubled = min(settings.initialRetryDelay, settings.maximumRetryDelay) * (1 << min(max(failures - 1, 0), 20))
        let delay = min(doubled, settings.maximumRetryDelay) * (0.5 + random() / 2)
        return min(max(delay, retryAfter ?? .zero), settings.maximumRetryDelay)
    }

    // MARK: Offline

    /// Ends the round. It is repeated after a delay.
    mutating func goOffline(message: String, retryAfter: Duration?, _ step: inout Step) {
        networkFailures += 1
        offlineCount += 1
        pullsFirst = false
        let delay = retryDelay(failures: networkFailures, retryAfter: retryAfter, random: step.random)
        endRound()
        phase = .offline(number: offlineCount, message: message, nextTry: step.now.advanced(by: delay))
        step.schedule(.offline(offlineCount), delay)
    }
}
