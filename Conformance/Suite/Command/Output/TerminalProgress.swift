#if Commands
internal import Foundation
internal import Synchronization
package import TidelineSupport

/// Displays a run's progress: a line for each completed group and, on a terminal, one for the current check.
package final class TerminalProgress: Sendable {
    private struct Running {
        var count = 0
        var done = 0
        var current: CheckSummary?
        var results: [CheckResult] = []
    }

    private struct State {
        var running: [String: Running] = [:]
        /// The store of the last printed line.
        var heading: String?
        var isLineShown = false
    }

    private let terminal: Terminal
    private let state = Mutex(State())

    package init(_ terminal: Terminal) { self.terminal = terminal }

    /// Handles an event of the run.
    func note(_ event: ConformanceEvent) {
        switch event.kind {
        case .storeBegan(let checks): begin(event.store, checks: checks.count)
        case .declared: break
        case .checkBegan(let check): begin(check.summary, of: event.store)
        case .checkEnded(let result): end(result, of: event.store)
        case .storeEnded: end(event.store)
        }
    }

    /// Begins a subject, such as a store, with the given number of checks.
    package func begin(_ subject: String, checks count: Int) {
        state.withLock { $0.running[subject] = Running(count: count) }
    }

    /// Begins a check of a subject.
    package func begin(_ check: CheckSummary, of subject: String) {
        state.withLock { state in
            if let current = state.running[subject]?.current, current.group != check.group {
                endGroup(of: subject, &state)
            }
            state.running[subject]?.current = check
            show(&state)
        }
    }

    /// Ends a check of a subject. A check that is reported twice counts once, with its last result.
    package func end(_ result: CheckResult, of subject: String) {
        state.withLock { state in
            if state.running[subject]?.results.last?.id == result.id { state.running[subject]?.results.removeLast() }
            state.running[subject]?.results.append(result)
            state.running[subject]?.done += 1
        }
    }

    /// Ends a subject.
    package func end(_ subject: String) {
        state.withLock { state in
            endGroup(of: subject, &state)
            state.running[subject] = nil
        }
    }

    /// Clears the updating line.
    package func clear() { state.withLock { clear(&$0) } }

    private func endGroup(of store: String, _ state: inout State) {
        guard let running = state.running[store], let group = running.current?.group, !running.results.isEmpty else {
            return
        }
        clear(&state)
        if state.heading != store {
            terminal.write((state.heading == nil ? "" : "\n") + terminal.style.strong(printable(store)) + "\n")
            state.heading = store
        }
        terminal.write(line(of: group, running.results) + "\n")
        state.running[store]?.results = []
    }

    private func line(of group: CheckGroup, _ results: [CheckResult]) -> String {
        let totals = StatusTotals(results)
        let counts = CheckStatus.allCases.filter { totals[$0] > 0 }.map { status in
            let text = "\(totals[status]) \(status.title)"
            return status.isFailure ? terminal.style.bad(text) : text
        }
        let failures = results.filter(\.status.isFailure).map(\.id)
        let names = failures.isEmpty ? "" : " (\(failures.joined(separator: ", ")))"
        let sign = failures.isEmpty ? terminal.style.good("✓") : terminal.style.bad("✗")
        let title = group.title.padding(toLength: 32, withPad: " ", startingAt: 0)
        let seconds = String(format: "%6.1f s", results.reduce(0) { $0 + $1.seconds })
        return "  \(sign) \(title)\(seconds)  \(counts.joined(separator: ", "))\(names)"
    }

    // MARK: The updating line

    private func show(_ state: inout State) {
        guard terminal.isInteractive else { return }
        let parts = state.running.sorted { $0.key < $1.key }.compactMap { store, running in
            running.current.map { "\(store) \(running.done + 1)/\(running.count) \($0.id) \($0.promise)" }
        }
        let text = printable("  " + parts.joined(separator: " · "))
        terminal.write("\r\u{1B}[K" + terminal.style.faint(String(text.prefix(terminal.columns - 1))))
        state.isLineShown = true
    }

    private func clear(_ state: inout State) {
        guard state.isLineShown else { return }
        terminal.write("\r\u{1B}[K")
        state.isLineShown = false
    }
}
#endif
