#if Tool
internal import Foundation
internal import TidelineSimulation
internal import TidelineSupport

/// The result of the command, printed as text or as JSON.
struct SimulationReport: Codable, Sendable {
    /// The number of simulations that ended without a violation.
    var seeds = 0
    /// The number of actions, requests, responses, and calls of stores in these simulations.
    var worldSteps = 0
    /// The elapsed time.
    var seconds = 0.0
    /// The processor time of all threads.
    var processorSeconds = 0.0
    /// Whether the run was interrupted before its end.
    var isInterrupted = false
    /// The seeds whose simulations were interrupted, in order.
    var incompleteSeeds: [UInt64] = []
    /// The lowest of them that violates an invariant, and whose schedule was being shortened.
    var failingSeed: UInt64?
    /// The events of a single simulation, if they were requested.
    var timeline: [String]?
    /// The violation with the lowest seed, or `nil` if there is none.
    var failure: Failure?

    struct Failure: Codable, Sendable {
        var seed: UInt64
        var violations: [Violation]
        /// The shortened schedule.
        var schedule: SimulationSchedule
        /// The number of steps before the schedule was shortened.
        var originalSteps: Int
        var timeline: [String]

        init(_ failure: SimulationFailure) {
            seed = failure.seed
            violations = failure.violations
            schedule = failure.schedule
            originalSteps = failure.originalSteps
            timeline = failure.timeline
        }
    }

    /// The numbers on one line, without the outcome.
    var numbers: String {
        "\(Self.number(seeds)) seed\(seeds == 1 ? "" : "s"), \(Self.number(worldSteps)) world steps, "
            + String(format: "%.1f s", seconds)
            + (seeds > 0 ? " (\(rates), \(Self.rate(worldSteps, processorSeconds)) steps/s per core)" : "")
    }

    /// The seeds and world steps in a second.
    var rates: String { "\(Self.rate(seeds, seconds)) seeds/s, \(Self.rate(worldSteps, seconds)) steps/s" }

    private static func rate(_ count: Int, _ seconds: Double) -> String {
        number(Int((Double(count) / max(seconds, 0.001)).rounded()))
    }

    /// Returns a number with commas between groups of three digits.
    static func number(_ number: some BinaryInteger) -> String {
        let digits = Array("\(number)")
        return digits.indices.reduce(into: "") { text, index in
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digits[index])
        }
    }
}
#endif
