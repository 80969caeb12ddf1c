/// How a suite runs.
public struct ConformanceSettings: Sendable, Hashable {
    /// What random checks begin with; the same seed makes the same operations.
    public var seed: UInt64
    /// How often what is random is tried: kills, scripts, losses of power. Twice as many rounds take about twice as
    /// long.
    public var rounds: Int
    /// How many rows the checks of scale store.
    public var rows: Int
    /// How long a check may take before it counts as hung. After the first one that hangs, others of the same store are
    /// waited for a twentieth as long, or ten seconds, and those of its group a sixtieth, or five seconds; they are
    /// reported as not run then, with the reason.
    public var timeLimit: Duration
    /// Which checks run.
    public var profile: Profile

    /// Settings; those not named have their defaults.
    public init(
        seed: UInt64 = 1, rounds: Int = 1, rows: Int = 100_000, timeLimit: Duration = .seconds(300),
        profile: Profile = .full
    ) {
        self.seed = seed
        self.rounds = max(rounds, 1)
        self.rows = max(rows, 1)
        self.timeLimit = timeLimit
        self.profile = profile
    }
}
