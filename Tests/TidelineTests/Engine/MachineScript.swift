import Testing
import TidelineStore

@testable import Tideline

/// Handles the events of steps, and expects the action of each: `pulled: idle`.
func expectActions(of steps: [String], _ handle: (String) -> String) {
    for (number, step) in steps.enumerated() {
        let parts = step.split(separator: ": ", maxSplits: 1).map(String.init)
        let actions = handle(parts[0])
        #expect(actions == parts.last, "step \(number + 1), \(step)")
    }
}

/// A run of a ``SyncMachine`` as events, each with the actions that must follow: `pulled: interval1 60.0, idle`.
///
/// `declared a b` declares subscriptions: `a!5` with a priority, `a=10` or `a=nil` with an interval in seconds. Without
/// names, `declared` repeats the last ones. `nothing` stands for no action.
struct MachineSteps: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [String]
    let hasSignals: Bool
    let retryAfter: Duration?

    /// - Parameter steps: The steps, each text with one or several, separated by semicolons.
    init(_ name: String, hasSignals: Bool = false, retryAfter: Duration? = nil, _ steps: String...) {
        testDescription = name
        self.steps = steps.flatMap { $0.split(separator: "; ").map(String.init) }
        self.hasSignals = hasSignals
        self.retryAfter = retryAfter
    }

    func play() {
        var script = MachineScript(hasSignals: hasSignals, retryAfter: retryAfter)
        expectActions(of: steps) { script.handle($0) }
    }
}

/// A machine whose events and actions are texts.
struct MachineScript {
    var now = Timestamp(clampingTicks: 17_900_000_000_000_000)
    private let retryAfter: Duration?
    private var subscriptions: [SyncSubscription] = []
    private var machine: SyncMachine
    private var pulled: [Int] = []

    init(hasSignals: Bool = false, retryAfter: Duration? = nil) {
        self.retryAfter = retryAfter
        machine = SyncMachine(settings: .init(hasSignals: hasSignals))
    }

    /// Handles an event and returns the actions, separated by commas.
    mutating func handle(_ event: String) -> String {
        let words = event.split(separator: " ").map(String.init)
        if words[0] == "declared", words.count > 1 { subscriptions = words.dropFirst().map(Self.subscription) }
        let actions = machine.handle(self.event(words), at: now, random: { 0.5 }).map { text(of: $0) }
        return actions.isEmpty ? "nothing" : actions.joined(separator: ", ")
    }

    private static func subscription(_ word: String) -> SyncSubscription {
        let parts = word.split { $0 == "!" || $0 == "=" }.map(String.init)
        let number = parts.count > 1 ? Int(parts[1]) : nil
        if word.contains("=") { return SyncSubscription(parts[0], interval: number.map { .seconds($0) }) }
        return SyncSubscription(parts[0], priority: number ?? 0)
    }

    private func event(_ words: [String]) -> SyncMachine.Event {
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
        case "offline": .offline(number)
        default: preconditionFailure("no event \(word)")
        }
    }

    private func outcome(_ words: ArraySlice<String>) -> SyncMachine.PushOutcome {
        var outcome = SyncMachine.PushOutcome()
        guard let kind = words.first else { return outcome }
        let ids = Set(words.dropFirst().compactMap { Int64($0) })
        switch kind {
        case "unresolved": outcome.unresolved = ids
        case "answered": outcome.isAnswered = true
        case "failed": (outcome.unresolved, outcome.failedOnServer) = (ids, ids)
        case "changed":
            (outcome.unresolved, outcome.failedOnServer, outcome.newFailures) = (ids, ids, ids)
        case "delayed": (outcome.unresolved, outcome.delayed) = (ids, ids)
        default:
            outcome.failure = .init(
                code: .init(rawValue: kind), retryAfter: retryAfter, asksForPause: retryAfter != nil)
            outcome.isAnswered = words.contains("answered")
        }
        return outcome
    }

    /// The results of the latest pulls, all successful except those of the tables that the words name.
    private func results(_ words: ArraySlice<String>) -> [Int: SyncMachine.Failure?] {
        var results: [Int: SyncMachine.Failure?] = [:]
        for id in pulled {
            let table = machine.entries.first { $0.id == id }?.subscription.table
            let code = words.firstIndex { $0 == table }.map { words[$0 + 1] }
            results[id] = .some(
                code.map {
                    .init(
                        code: .init(rawValue: $0), retryAfter: retryAfter, asksForPause: retryAfter != nil,
                        isDoubtful: words.contains("doubtful"))
                })
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
