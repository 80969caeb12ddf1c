internal import Foundation
internal import Synchronization
internal import TidelineCommandSupport
internal import TidelineConformance
internal import TidelineSupport

/// Displays the progress of a run: a line for each completed group and, on an interactive terminal, an updating line
/// for the current check.
final class TerminalProgress: Sendable {
    private struct Running {
        var checks: [Check] = []
        var done = 0
        var current: Check?
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

    init(_ terminal: Terminal) { self.terminal = terminal }

    /// Handles an event of the run.
    func note(_ event: ConformanceEvent) {
        state.withLock { state in
            switch event.kind {
            case .storeBegan(let checks): state.running[event.store] = Running(checks: checks)
            case .declared: break
            case .checkBegan(let check): begin(check, of: event.store, &state)
            case .checkEnded(let result): end(result, of: event.store, &state)
            case .storeEnded:
                endGroup(of: event.store, &state)
                state.running[event.store] = nil
            }
        }
    }

    /// Clears the updating line.
    func clear() { state.withLock { clear(&$0) } }

    private func begin(_ check: Check, of store: String, _ state: inout State) {
        if let current = state.running[store]?.current, current.group != check.group { endGroup(of: store, &state) }
        state.running[store]?.current = check
        show(&state)
    }

    private func end(_ result: CheckResult, of store: String, _ state: inout State) {
        // A check that is reported twice counts once, with its last result.
        if state.running[store]?.results.last?.id == result.id { state.running[store]?.results.removeLast() }
        state.running[store]?.results.append(result)
        state.running[store]?.done += 1
    }

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
            running.current.map { "\(store) \(running.done + 1)/\(running.checks.count) \($0.id) \($0.promise)" }
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
