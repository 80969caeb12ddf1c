#if Commands
internal import Foundation
internal import Synchronization
internal import TidelineSupport

/// Shows the progress of a run: a line for each completed workload and, on an interactive terminal, a status line with
/// the current work and the remaining time.
final class BenchProgress: Sendable {
    private struct State {
        var isLineShown = false
        /// The time at which the status line was last written.
        var shown: ContinuousClock.Instant?
        /// The number of rows of the last lines.
        var rows: Int?
    }

    private let terminal: Terminal
    private let repetitions: Int
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    init(_ terminal: Terminal, repetitions: Int) {
        self.terminal = terminal
        self.repetitions = repetitions
    }

    /// Handles an event of the run.
    func note(_ event: BenchmarkEvent) {
        let left = Self.timeLeft(after: ContinuousClock.now - start, share: event.share)
        state.withLock { state in
            switch event.kind {
            case .loading(let rows): show("filling databases with \(counted(rows, "row"))\(left)", &state)
            case .iteration(let workload, let subject, let number):
                let turn = number.map { "\($0)/\(repetitions)" } ?? "warm-up"
                show("\(workload) \(turn) \(subject)\(left)", &state)
            case .ended(let result): end(result, &state)
            }
        }
    }

    /// Removes the status line.
    func clear() { state.withLock { clear(&$0) } }

    /// Returns a text with the estimated remaining time, or an empty text at the start of a run.
    static func timeLeft(after elapsed: Duration, share: Double) -> String {
        guard share >= 0.05 else { return "" }
        let seconds = elapsed / .seconds(1) * (1 - share) / share
        if seconds < 90 { return " · about \(Int(seconds.rounded(.up))) s left" }
        let minutes = Int((seconds / 60).rounded())
        return minutes < 90 ? " · about \(minutes) min left" : " · about \(Int((seconds / 3600).rounded())) h left"
    }

    private func end(_ result: WorkloadResult, _ state: inout State) {
        clear(&state)
        if state.rows != result.rows {
            terminal.write(terminal.style.strong(counted(result.rows, "row")) + "\n")
            state.rows = result.rows
        }
        let wrong = result.subjects.filter { $0.failure?.kind == .wrongAnswer || $0.failure?.kind == .failed }
        let sign = wrong.isEmpty ? terminal.style.good("✓") : terminal.style.bad("✗")
        let names = wrong.isEmpty ? "" : " (\(wrong.map { Escape.line($0.subject) }.joined(separator: ", ")))"
        terminal.write("  \(sign) \(Escape.line(result.title))\(names)\n")
    }

    // MARK: The status line

    private func show(_ text: String, _ state: inout State) {
        // Limit the rate, because writing takes processor time and nobody can read faster.
        let now = ContinuousClock.now
        guard terminal.isInteractive, state.shown.map({ now - $0 > .milliseconds(200) }) ?? true else { return }
        let line = String(Escape.line("  " + text).prefix(terminal.columns - 1))
        terminal.write("\r\u{1B}[K" + terminal.style.faint(line))
        state.isLineShown = true
        state.shown = now
    }

    private func clear(_ state: inout State) {
        guard state.isLineShown else { return }
        terminal.write("\r\u{1B}[K")
        state.isLineShown = false
    }
}
#endif
