internal import Dispatch
internal import Foundation
internal import TidelineStore

/// A deterministic simulation of devices, a network, and a server, all determined by a seed.
///
/// The devices run the real sync core over real stores, and the server is a real `TableService`. Their tasks run on one
/// thread, on a virtual clock, with faults of the network, the server, and the processes. After the last step, all
/// faults end and the devices synchronize. Then the simulation checks that no edit was lost, that each operation took
/// effect once, that nothing was overwritten unseen, that deleted rows stay deleted, that the queues are empty, that
/// all replicas equal the server, and the invariants of the test's author. <doc:TestingYourAppsSync> lists all checks.
///
/// A seed gives the same run each time, in debug builds and in optimized builds.
///
/// ```swift
/// @Test(arguments: Seeds(1_000)) func myPolicyKeepsEveryEdit(seed: UInt64) async throws {
///     try await Simulation(seed: seed) { world in
///         world.policy = MyPolicy()
///         world.invariant("no edit is lost") { $0.lostEdits }
///     }.run()
/// }
/// ```
public struct Simulation: Sendable {
    /// The schedule.
    public let schedule: SimulationSchedule
    let world: SimulatedWorld

    /// Creates the simulation of a seed.
    ///
    /// - Parameters:
    ///   - seed: The seed, which determines the schedule and everything that happens.
    ///   - configure: Changes the world.
    public init(seed: UInt64, _ configure: (inout SimulatedWorld) -> Void = { _ in }) {
        var world = SimulatedWorld()
        configure(&world)
        guard (try? world.validate()) != nil else {
            // The error is thrown by run().
            self.init(schedule: SimulationSchedule(seed: seed, devices: 0, steps: []), world: world)
            return
        }
        var generator = ScheduleGenerator(seed: seed, world: world)
        self.init(schedule: generator.makeSchedule(), world: world)
    }

    /// Creates the simulation of a schedule, such as that of a failure.
    ///
    /// - Parameters:
    ///   - schedule: The schedule.
    ///   - configure: Changes the world in the same way as in the simulation that failed.
    public init(_ schedule: SimulationSchedule, _ configure: (inout SimulatedWorld) -> Void = { _ in }) {
        var world = SimulatedWorld()
        configure(&world)
        self.init(schedule: schedule, world: world)
    }

    init(schedule: SimulationSchedule, world: SimulatedWorld) {
        self.schedule = schedule
        self.world = world
    }

    /// Runs the simulation.
    ///
    /// - Returns: The numbers of a simulation without a violation.
    /// - Throws: ``SimulationFailure``, with the shortest schedule that was found to fail in the same way;
    ///   ``SimulationError`` for a configuration or schedule that cannot be simulated; the errors of
    ///   ``SimulatedWorld/openStore``.
    @discardableResult
    public func run() async throws -> SimulationResult {
        try await withCheckedThrowingContinuation { continuation in
            // The simulation occupies a thread, which must not belong to the cooperative pool.
            DispatchQueue(label: "tideline.simulation").async {
                continuation.resume(with: Result { try runSynchronously() })
            }
        }
    }

    private func runSynchronously() throws -> SimulationResult {
        try world.validate()
        try schedule.validate(in: world)
        let outcome = try WorldRun(schedule, world: world, recordsTimeline: world.recordsTimeline).run()
        guard let first = outcome.violations.first else { return outcome.result }
        var shrinker = Shrinker(schedule: schedule, world: world, invariant: first.invariant)
        throw try shrinker.run(from: outcome)
    }
}

/// The numbers of a simulation without a violation.
public struct SimulationResult: Sendable, Hashable {
    /// The number of steps of the world: actions, requests, responses, and calls of stores.
    public var events: Int
    /// The virtual duration.
    public var duration: Duration
    /// The events, if ``SimulatedWorld/recordsTimeline`` is set; otherwise empty.
    public var timeline: [String]
}

/// The seeds of a parameterized test.
///
/// Two environment variables replace them: `TIDELINE_SEEDS`, a number of seeds, and `TIDELINE_SEED`, a single one.
public struct Seeds: RandomAccessCollection, Sendable {
    private let range: Range<UInt64>

    /// Creates the seeds 1 to `count`.
    public init(_ count: Int) {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["TIDELINE_SEED"].flatMap(UInt64.init), seed < .max {
            range = seed..<seed + 1
        } else {
            let wanted = environment["TIDELINE_SEEDS"].flatMap(Int.init) ?? count
            range = 1..<UInt64(Swift.max(0, wanted)) + 1
        }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { range.count }
    public subscript(position: Int) -> UInt64 { range.lowerBound + UInt64(position) }
}
