#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A violation that a simulation found, with the shortest schedule that was found to lead to it.
///
/// Its description has everything that is needed to understand and to repeat it.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible, LocalizedError {
    /// The seed.
    public var seed: UInt64 { schedule.seed }
    /// The violations of the shortened schedule.
    public let violations: [Violation]
    /// The shortened schedule.
    public let schedule: SimulationSchedule
    /// The number of steps before the schedule was shortened.
    public let originalSteps: Int
    /// The events, one a line, each with the virtual time in seconds.
    public let timeline: [String]

    /// A Swift test that repeats the failure.
    public var replay: String {
        """
        @Test func replayOfSeed\(seed)() async throws {
            let schedule = SimulationSchedule(
                seed: \(seed), devices: \(schedule.devices), serverQuirks: \(schedule.serverQuirks), \
        services: \(schedule.services),
                steps: [
        \(schedule.steps.map { "            \($0)," }.joined(separator: "\n"))
                ])
            try await Simulation(schedule).run()  // with the same changes of the world
        }
        """
    }

    /// The schedule as JSON, for `tideline simulate --replay` and for ``SimulationSchedule``, which is `Decodable`.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return (try? encoder.encode(schedule)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    public var description: String {
        """
        seed \(seed): \(violations.map(\.description).joined(separator: "\n"))

        Timeline (\(schedule.steps.count) of \(originalSteps) steps are needed):
        \(timeline.joined(separator: "\n"))

        Replay:
        \(replay)
        """
    }

    public var errorDescription: String? { description }
}
