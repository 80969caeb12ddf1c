internal import TidelineStore

/// The change signals of the dialect. They are hints: the intervals of the subscriptions never depend on them.
extension SyncMachine {
    /// The state of the signals.
    struct Signals: Sendable {
        /// Whether the sequence runs, waits for a retry, or may be asked for.
        enum State: Sendable, Hashable {
            case wanted
            case listening(isWorking: Bool)
            case waiting
            /// The server has no signals.
            case unsupported
        }

        var state = State.wanted
        /// The number of the latest sequence.
        var number = 0
        /// The number of sequences that ended without having worked.
        var failures = 0

        /// Whether the sequence is asked for later, because it failed or the server has none.
        var isDelayed: Bool { state == .waiting || state == .unsupported }

        /// Asks for a sequence without the delay of earlier failures.
        mutating func startOver() {
            failures = 0
            if isDelayed { state = .wanted }
        }

        mutating func retry(_ number: Int) {
            if number == self.number, isDelayed { state = .wanted }
        }

        mutating func work(_ number: Int) {
            if number == self.number, case .listening = state { state = .listening(isWorking: true) }
        }
    }

    /// Listens, unless the sync already does or must wait.
    mutating func listen(_ step: inout Step) {
        guard settings.hasSignals, signals.state == .wanted, phase != .needsSignIn else { return }
        signals.number += 1
        signals.state = .listening(isWorking: false)
        step.actions.append(.listen(signals.number))
        step.schedule(.signalsWork(signals.number), Self.signalTrial)
    }

    /// Lets the signals wait for a retry. If they had worked, the changes in the meantime are pulled, unless the next
    /// signals contain them.
    mutating func noteSignalsEnded(_ number: Int, _ end: SignalsEnd, _ step: inout Step) {
        guard number == signals.number, case .listening(let isWorking) = signals.state else { return }
        if isWorking {
            signals.failures = 0
            if !end.canContinue || end.isUnsupported {
                for index in entries.indices where entries[index].failure == nil { entries[index].isDue = true }
            }
        }
        if end.isUnsupported {
            signals.state = .unsupported
            return step.schedule(.signalRetry(number), Self.unsupportedDelay)
        }
        signals.failures += 1
        signals.state = .waiting
        step.schedule(
            .signalRetry(number),
            retryDelay(failures: signals.failures, retryAfter: end.retryAfter, random: step.random))
    }
}
