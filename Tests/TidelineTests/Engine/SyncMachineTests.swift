import Testing
import TidelineStore

@testable import Tideline

/// The decisions of a sync that runs itself, event by event.
@Suite("Sync machine")
struct SyncMachineTests {
    /// One event, and the actions that must follow, as ``MachineScript`` writes them.
    typealias Steps = [(event: String, actions: String)]

    private func expect(
        _ subscriptions: [Subscription], hasSignals: Bool = false, retryAfter: Duration? = nil, _ steps: Steps,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var script = MachineScript(subscriptions, hasSignals: hasSignals)
        script.retryAfter = retryAfter
        for (number, step) in steps.enumerated() {
            let actions = script.handle(step.event)
            #expect(actions == step.actions, "step \(number + 1), \(step.event)", sourceLocation: sourceLocation)
        }
    }

    private static let a = Subscription("a")
    private static let pair = [Subscription("a"), Subscription("b")]

    @Test("S1 the start pushes and pulls, and each interval pulls")
    func startAndIntervals() {
        expect(
            [Self.a],
            [
                ("declared", "push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"), ("interval1", "push"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"),
            ])
    }

    @Test("S1 a sync without subscriptions only pushes")
    func onlyPushes() {
        expect([], [("declared", "push all"), ("pushed", "idle"), ("local", "pushDelay 0.2; idle")])
    }

    @Test("S1 local changes are pushed when none has come for the delay, and at the latest after five delays")
    func debounce() {
        expect(
            [],
            [
                ("declared", "push all"), ("pushed", "idle"), ("local", "pushDelay 0.2; idle"), ("local", "idle"),
                ("local", "idle"), ("pushDelay", "pushDelay 0.2; idle"), ("pushDelay", "push"), ("pushed", "idle"),
                // Changes that keep coming.
                ("local", "pushDelay 0.2; idle"), ("local", "idle"), ("pushDelay", "pushDelay 0.2; idle"),
                ("local", "idle"), ("pushDelay", "pushDelay 0.2; idle"), ("local", "idle"),
                ("pushDelay", "pushDelay 0.2; idle"), ("local", "idle"), ("pushDelay", "pushDelay 0.2; idle"),
                ("local", "idle"), ("pushDelay", "push"),
            ])
    }

    @Test("S1 change signals that end are asked for again, with increasing delays and without a pull")
    func endingSignals() {
        expect(
            [], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("pushed", "idle"),
                ("ended1", "signalRetry1 0.75; idle"), ("ended1", "idle"), ("signalsWork1", "idle"),
                ("signalRetry1", "listen2; signalsWork2 60.0; idle"), ("signalRetry1", "idle"),
                ("ended2", "signalRetry2 1.5; idle"), ("signalRetry2", "listen3; signalsWork3 60.0; idle"),
                ("ended3", "signalRetry3 3.0; idle"),
                // A request, or a network that becomes available, ends the wait.
                ("requested", "listen4; signalsWork4 60.0; push all"), ("pushed", "idle"), ("signalRetry3", "idle"),
                ("ended4", "signalRetry4 0.75; idle"),
            ])
    }

    @Test("S1 after change signals that had worked, the changes in the meantime are pulled once")
    func lostSignals() {
        expect(
            [Self.a], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"), ("signalsWork1", "idle"),
                ("ended1", "signalRetry1 0.75; push"), ("pushed", "pulling a; pull a"), ("pulled", "idle"),
                ("signalRetry1", "listen2; signalsWork2 60.0; idle"), ("ended2", "signalRetry2 1.5; idle"),
            ])
    }

    @Test("S1 change signals that continue where they ended need no pull")
    func continuedSignals() {
        expect(
            [Self.a], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"), ("signalsWork1", "idle"),
                ("ended1 continues", "signalRetry1 0.75; idle"), ("signalRetry1", "listen2; signalsWork2 60.0; idle"),
                ("ended2 continues", "signalRetry2 1.5; idle"),
            ])
    }

    @Test("S10 a server without change signals is asked again after an hour, a request of the app, and a new network")
    func unsupportedSignals() {
        expect(
            [], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("pushed", "idle"),
                ("ended1 unsupported", "signalRetry1 3600.0; idle"),
                ("requested", "listen2; signalsWork2 60.0; push all"), ("pushed", "idle"),
                ("ended2 unsupported", "signalRetry2 3600.0; idle"), ("network no", "idle"),
                ("network", "network 1.0; listen3; signalsWork3 60.0; push all"), ("pushed", "idle"),
                ("ended3 unsupported", "signalRetry3 3600.0; idle"), ("signalRetry1", "idle"),
                ("signalRetry3", "listen4; signalsWork4 60.0; idle"),
            ])
    }

    @Test("S3 change signals are asked for again at once when the server is reached again, and not before it allows it")
    func signalsAfterFailures() {
        expect(
            [Self.a], hasSignals: true, retryAfter: .seconds(20),
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("ended1", "signalRetry1 20.0"),
                ("pushed network", "offline1 20.0; offline"), ("offline1", "push all"),
                ("pushed", "pulling a; pull a"), ("pulled", "interval1 60.0; listen2; signalsWork2 60.0; idle"),
                ("signalRetry1", "idle"),
            ])
    }

    @Test("S4 without a sign-in, change signals are not asked for")
    func signalsWithoutSignIn() {
        expect(
            [], hasSignals: true,
            [
                ("declared", "listen1; signalsWork1 60.0; push all"), ("ended1", "signalRetry1 0.75"),
                ("pushed authentication", "signIn1 300.0; sign in"), ("signalRetry1", "sign in"),
                ("signedIn", "listen2; signalsWork2 60.0; push all"),
            ])
    }

    @Test("S2 triggers during a round are folded into one more")
    func folding() {
        expect(
            [Self.a],
            [
                ("declared", "push all"), ("requested", ""), ("signal a", "signal1 1.0"), ("local", "pushDelay 0.2"),
                ("pushDelay", ""), ("pushed", "pulling a; pull a"), ("requested", ""), ("requested", ""),
                ("signal a", ""), ("pulled", "interval1 60.0; push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "idle"),
            ])
    }

    @Test("S2 subscriptions are pulled in order of priority, equal ones together")
    func priorities() {
        expect(
            [
                Subscription("low", priority: -1), Subscription("a"), Subscription("high", priority: 5),
                Subscription("b"),
            ],
            [
                ("declared", "push all"), ("pushed", "pulling high; pull high"),
                ("pulled", "interval3 60.0; pulling a; pull a b"),
                ("pulled", "interval2 60.0; interval4 60.0; pulling low; pull low"), ("pulled", "interval1 60.0; idle"),
            ])
    }

    @Test("S2 a subscription with many signals does not hold back those with a lower priority")
    func noStarvation() {
        expect(
            [Subscription("high", priority: 1), Subscription("low")],
            [
                ("declared", "push all"), ("pushed", "pulling high; pull high"), ("signal high", "signal1 1.0"),
                ("pulled", "interval1 60.0; pulling low; pull low"), ("pulled", "interval2 60.0; push"),
                ("pushed", "pulling high; pull high"),
            ])
    }

    @Test("S2 local changes that keep coming during pushes do not hold back the pulls")
    func changesDuringPushes() {
        expect(
            [Subscription("high", priority: 1), Subscription("low")],
            [
                ("declared", "push all"), ("local", "pushDelay 0.2"), ("pushDelay", ""),
                ("pushed", "pulling high; pull high"), ("pulled", "interval1 60.0; push"), ("local", "pushDelay 0.2"),
                ("pushDelay", ""), ("pushed", "pulling low; pull low"), ("pulled", "interval2 60.0; push"),
                ("pushed", "idle"),
            ])
    }

    @Test("S2 a new subscription is pulled at once, the others keep their intervals")
    func newSubscription() {
        var script = MachineScript([Self.a])
        for event in ["declared", "pushed", "pulled"] { _ = script.handle(event) }
        script.subscriptions = Self.pair
        #expect(script.handle("declared") == "push")
        #expect(script.handle("pushed") == "pulling b; pull b")
        #expect(script.handle("pulled") == "interval2 60.0; idle")
        script.subscriptions = [Self.pair[1]]
        #expect(script.handle("declared") == "idle")
        #expect(script.handle("interval1") == "idle")
    }

    @Test("S2 a changed interval begins at once, and the timer of the earlier one has no effect")
    func changedInterval() {
        var script = MachineScript([Subscription("a", interval: nil)])
        for event in ["declared", "pushed", "pulled"] { _ = script.handle(event) }
        script.subscriptions = [Subscription("a", interval: .seconds(3_600))]
        #expect(script.handle("declared") == "interval1#1 3600.0; idle")
        script.subscriptions = [Subscription("a", interval: .seconds(10))]
        #expect(script.handle("declared") == "interval1#2 10.0; idle")
        #expect(script.handle("declared") == "idle")
        #expect(script.handle("interval1#1") == "idle")
        #expect(script.handle("interval1#2") == "push")
        #expect(script.handle("pushed") == "pulling a; pull a")
        #expect(script.handle("pulled") == "interval1#2 10.0; idle")
        script.subscriptions = [Subscription("a", interval: nil)]
        #expect(script.handle("declared") == "idle")
        #expect(script.handle("interval1#2") == "idle")
    }

    @Test("S3 failures of the network are retried with growing delays, up to the bound, and a success resets them")
    func backOff() {
        var script = MachineScript([Self.a])
        _ = script.handle("declared")
        var delays: [String] = []
        for number in 1...11 {
            delays.append(script.handle("pushed network").split(separator: ";").first.map(String.init) ?? "")
            #expect(script.handle("offline\(number)") == "push all")
        }
        // The random number of the script is 0.5, which reduces each delay to three quarters.
        #expect(
            delays
                == ([0.75, 1.5, 3, 6, 12, 24, 48, 96, 192, 225, 225] as [Double]).enumerated()
                .map { "offline\($0 + 1) \($1)" })
        for event in ["pushed", "pulled"] { _ = script.handle(event) }
        _ = script.handle("interval1")
        #expect(script.handle("pushed network") == "offline12 0.75; offline")
    }

    @Test("S3 while offline, local changes, signals, and intervals wait; the app's request does not")
    func waitsOffline() {
        expect(
            Self.pair,
            [
                ("declared", "push all"), ("pushed", "pulling a; pull a b"),
                ("pulled b network", "interval1 60.0; offline1 0.75; offline"), ("local", "pushDelay 0.2; offline"),
                ("pushDelay", "offline"), ("signal a", "signal1 1.0; offline"), ("interval1", "offline"),
                ("requested", "push all"), ("pushed", "pulling a; pull a b"),
                ("pulled", "interval1 60.0; interval2 60.0; idle"), ("offline1", "idle"),
            ])
    }

    @Test("S3 a new network starts over at once; reports that keep coming do so once in a delay")
    func connectivity() {
        expect(
            [Self.a],
            [
                ("declared", "push all"), ("pushed network", "offline1 0.75; offline"),
                ("offline1", "push all"), ("pushed network", "offline2 1.5; offline"),
                ("network lost", "offline"), ("network", "network 1.0; push all"),
                ("pushed network", "offline3 0.75; offline"), ("network", "offline"), ("network", "offline"),
                ("offline2", "offline"), ("networkTimer", "network 1.0; push all"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; idle"), ("networkTimer", "idle"),
                // A report without news changes nothing.
                ("network", "idle"), ("network lost", "idle"), ("network", "network 1.0; push all"),
            ])
    }

    @Test("S3 Retry-After is obeyed up to the bound", arguments: [(20, "20.0"), (0, "0.75"), (9_999, "300.0")])
    func retryAfter(_ seconds: Int, _ delay: String) {
        var script = MachineScript([Self.a])
        _ = script.handle("declared")
        script.retryAfter = .seconds(seconds)
        #expect(script.handle("pushed network") == "offline1 \(delay); offline")
    }

    @Test("S4 a failure of one subscription is shown, and the others continue")
    func failingSubscription() {
        expect(
            Self.pair,
            [
                ("declared", "push all"), ("pushed", "pulling a; pull a b"),
                ("pulled b rejected", "interval1 60.0; pullRetry2 0.75; failing rejected"),
                ("interval1", "push"), ("pushed", "pulling a; pull a"),
                ("pulled", "interval1 60.0; failing rejected"), ("signal b", "failing rejected"),
                ("pullRetry2", "push"), ("pushed", "pulling b; pull b"),
                ("pulled b rejected", "pullRetry2 1.5; failing rejected"), ("pullRetry2", "push"),
                ("pushed", "pulling b; pull b"), ("pulled", "interval2 60.0; idle"),
            ])
    }

    @Test("S4 a sign-in is needed until the app signs in or asks for a sync, and nothing is lost meanwhile")
    func signIn() {
        expect(
            [Self.a],
            [
                ("declared", "push all"), ("pushed authentication", "signIn1 300.0; sign in"),
                ("local", "pushDelay 0.2; sign in"), ("pushDelay", "sign in"), ("network lost", "sign in"),
                ("signedIn", "push all"),
                ("pushed", "pulling a; pull a"), ("pulled a authentication", "signIn2 300.0; sign in"),
                ("signIn1", "sign in"), ("signIn2", "push"), ("pushed authentication", "signIn3 300.0; sign in"),
                ("network", "network 1.0; push all"), ("pushed authentication", "signIn4 300.0; sign in"),
                ("requested", "push all"),
                ("pushed", "pulling a; pull a"), ("pulled", "interval1 60.0; idle"), ("signedIn", "idle"),
            ])
    }

    @Test("S4 a sign-in during a push or pull that fails repeats the round once")
    func signInDuringRound() {
        expect(
            [Self.a],
            [
                ("declared", "push all"), ("signedIn", ""), ("pushed authentication", "push all"),
                ("pushed authentication", "signIn1 300.0; sign in"), ("signedIn", "push all"),
                ("pushed", "pulling a; pull a"),
                ("signedIn", ""), ("pulled a authentication", "push"), ("signedIn", ""),
                // The pull has the new token.
                ("pushed", "pulling a; pull a"), ("pulled a authentication", "signIn2 300.0; sign in"),
            ])
    }

    @Test("S5 an operation that the server rejects is shown and not sent again until the app asks")
    func rejectedOperation() {
        expect(
            [Self.a],
            [
                ("declared", "push all"), ("pushed unresolved 1", "pulling a; pull a"),
                ("pulled", "interval1 60.0; attention 1"), ("interval1", "push"),
                ("pushed unresolved 1", "pulling a; pull a"), ("pulled", "interval1 60.0; attention 1"),
                ("requested", "push all"), ("pushed", "pulling a; pull a"), ("pulled", "idle"),
            ])
    }

    @Test("S5 an operation that fails on the server is retried with growing delays, and then no more")
    func serverFailure() {
        var script = MachineScript([])
        _ = script.handle("declared")
        for delay in ["0.75", "1.5", "3.0", "6.0"] {
            #expect(script.handle("pushed failed 1") == "pushRetry \(delay); idle")
            #expect(script.handle("local") == "pushDelay 0.2; idle")
            #expect(script.handle("pushDelay") == "push")
            #expect(script.handle("pushed unresolved 1") == "idle")
            #expect(script.handle("pushRetry") == "push failed")
        }
        #expect(script.handle("pushed failed 1") == "attention 1")
        #expect(script.handle("requested") == "push all")
        #expect(script.handle("pushed") == "idle")
    }

    @Test("S5 while the server fails for all operations, pushes wait and pulls continue")
    func serverFailing() {
        expect(
            [Self.a],
            [
                ("declared", "push all"), ("pushed serverFailing", "pushRetry 0.75; pulling a; pull a"),
                ("pulled", "interval1 60.0; failing serverFailing"), ("local", "pushDelay 0.2; failing serverFailing"),
                ("pushDelay", "failing serverFailing"), ("interval1", "pulling a; pull a"),
                ("pulled", "interval1 60.0; failing serverFailing"), ("pushRetry", "push failed"), ("pushed", "idle"),
            ])
    }

    @Test("S3 the delays have no effect on the time, and the time none on the delays")
    func clockJumps() {
        var script = MachineScript([Self.a])
        for (event, ticks) in [("declared", Int64(0)), ("pushed", -1_000_000_000_000), ("pulled", .max)] {
            script.now = Timestamp(clampingTicks: ticks)
            _ = script.handle(event)
        }
        script.now = Timestamp(clampingTicks: .min)
        #expect(script.handle("interval1") == "push")
        #expect(script.handle("pushed network") == "offline1 0.75; offline")
        script.now = .max
        #expect(script.handle("offline1") == "push")
    }

    @Test("S4 no pull follows a cancellation without a reason at once")
    func cancelledPull() {
        expect(
            [Self.a],
            [
                ("declared", "push all"), ("pushed cancelled", "pulling a; pull a"),
                ("pulled a cancelled", "pullRetry1 0.75; failing cancelled"),
            ])
    }
}

/// A machine whose events and actions are texts.
struct MachineScript {
    var subscriptions: [Subscription]
    var now = Timestamp(clampingTicks: 17_900_000_000_000_000)
    var retryAfter: Duration?
    private var machine: SyncMachine
    private var pulled: [Int] = []

    init(_ subscriptions: [Subscription], hasSignals: Bool = false) {
        self.subscriptions = subscriptions
        machine = SyncMachine(settings: .init(hasSignals: hasSignals))
    }

    /// Handles an event and returns the actions, separated by semicolons.
    mutating func handle(_ event: String) -> String {
        let actions = machine.handle(self.event(event), at: now, random: { 0.5 })
        return actions.map { text(of: $0) }.joined(separator: "; ")
    }

    private func event(_ text: String) -> SyncMachine.Event {
        let words = text.split(separator: " ").map(String.init)
        switch words[0] {
        case "declared": return .declared(subscriptions)
        case "local": return .localChange
        case "requested": return .requested
        case "signedIn": return .signedIn
        case "signal": return .changed(table: words[1])
        case "network": return .network(isAvailable: words.count == 1)
        case "pushed": return .pushed(outcome(words.dropFirst()))
        case "pulled": return .pulled(results(words.dropFirst()))
        case "pushDelay": return .fired(.pushDelay)
        case "pushRetry": return .fired(.pushRetry)
        case "networkTimer": return .fired(.network)
        case let word where word.hasPrefix("ended"):
            let end = SyncMachine.SignalsEnd(
                isUnsupported: words.contains("unsupported"), canContinue: words.contains("continues"),
                retryAfter: retryAfter)
            return .signalsEnded(Int(word.dropFirst(5)) ?? 0, end)
        default: return .fired(timer(words[0]))
        }
    }

    private func timer(_ word: String) -> SyncMachine.Timer {
        let numbers = word.split { !$0.isNumber }.compactMap { Int($0) }
        let number = numbers.first ?? 0
        return switch word.prefix(while: { !$0.isNumber }) {
        case "interval": .interval(number, changes: numbers.dropFirst().first ?? 0)
        case "pullRetry": .pullRetry(number)
        case "signal": .signal(number)
        case "signalRetry": .signalRetry(number)
        case "signalsWork": .signalsWork(number)
        case "signIn": .signIn(number)
        default: .offline(number)
        }
    }

    private func outcome(_ words: ArraySlice<String>) -> SyncMachine.PushOutcome {
        var outcome = SyncMachine.PushOutcome()
        guard let kind = words.first else { return outcome }
        let ids = Set(words.dropFirst().compactMap { Int64($0) })
        switch kind {
        case "unresolved": outcome.unresolved = ids
        case "failed": (outcome.unresolved, outcome.failedOnServer) = (ids, ids)
        default: outcome.failure = .init(code: .init(rawValue: kind), retryAfter: retryAfter)
        }
        return outcome
    }

    /// The results of the latest pulls, all successful except the one of the table that the words name.
    private func results(_ words: ArraySlice<String>) -> [Int: SyncMachine.Failure?] {
        var results: [Int: SyncMachine.Failure?] = [:]
        for id in pulled {
            let table = machine.entries.first { $0.id == id }?.subscription.table
            let code = words.first == table ? words.last : nil
            results[id] = .some(code.map { .init(code: .init(rawValue: $0), retryAfter: retryAfter) })
        }
        return results
    }

    private mutating func text(of action: SyncMachine.Action) -> String {
        switch action {
        case .push(.all): return "push all"
        case .push(.failedOnServer): return "push failed"
        case .push(.none): return "push"
        case .pull(let pulls):
            pulled = pulls.map(\.id)
            return "pull \(pulls.map(\.subscription.table).joined(separator: " "))"
        case .schedule(let timer, let delay): return "\(text(of: timer)) \(delay / .seconds(1))"
        case .publish(let status): return text(of: status)
        case .listen(let number): return "listen\(number)"
        }
    }

    private func text(of timer: SyncMachine.Timer) -> String {
        switch timer {
        case .pushDelay: "pushDelay"
        case .pushRetry: "pushRetry"
        case .network: "network"
        case .interval(let id, let changes): changes == 0 ? "interval\(id)" : "interval\(id)#\(changes)"
        case .pullRetry(let id): "pullRetry\(id)"
        case .signal(let id): "signal\(id)"
        case .offline(let number): "offline\(number)"
        case .signIn(let number): "signIn\(number)"
        case .signalRetry(let number): "signalRetry\(number)"
        case .signalsWork(let number): "signalsWork\(number)"
        }
    }

    private func text(of status: SyncStatus) -> String {
        switch status {
        case .stopped: "stopped"
        case .idle: "idle"
        case .pushing(let done, let total): "pushing \(done) \(total)"
        case .pulling(let table, _, _): "pulling \(table)"
        case .offline: "offline"
        case .needsSignIn: "sign in"
        case .needsAttention(let count): "attention \(count)"
        case .failing(let code, _, _): "failing \(code)"
        }
    }
}
