internal import Foundation
internal import Synchronization
internal import TidelineBenchmark
internal import TidelineCommandSupport
internal import TidelineSupport

/// Tells a run as it goes on: a line for each workload when it has ended and, for a person who watches, a line that is
/// written over for what runs now and how long it will still take.
final class BenchProgress: Sendable {
    private struct State {
        var isLineShown = false
        /// When the line was last written.
        var shown: ContinuousClock.Instant?
        /// How many rows the last lines were about.
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

    /// Takes an event of the run.
    func note(_ event: BenchmarkEvent) {
        let left = Self.timeLeft(after: ContinuousClock.now - start, share: event.share)
        state.withLock { state in
            switch event.kind {
            case .loading(let rows): show("filling databases with \(counted(rows, "row"))\(left)", &state)
            case .repetition(let repetition):
                let number = repetition.number.map { "\($0)/\(repetitions)" } ?? "warm-up"
                show("\(repetition.workload) \(number) \(repetition.subject)\(left)", &state)
            case .ended(let result): end(result, &state)
            }
        }
    }

    /// Takes the line away that is written over.
    func clear() { state.withLock { clear(&$0) } }

    /// About how long a run still takes of which so much is done; nothing before that can be told.
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

    // MARK: The line that is written over

    private func show(_ text: String, _ state: inout State) {
        // Writing takes the processor's time, and small repetitions are over before a line is read.
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
