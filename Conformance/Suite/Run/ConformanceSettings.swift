/// The settings of a suite.
public struct ConformanceSettings: Sendable, Hashable {
    /// The seed of random checks; the same seed generates the same operations.
    public var seed: UInt64
    /// The number of repetitions of random checks: kills, scripts, power losses. Twice as many rounds take about twice
    /// as long.
    public var rounds: Int
    /// The number of rows that the scale checks store. Checks of single operations store a quarter of it, except in
    /// ``Profile/long``.
    public var rows: Int
    /// The time after which a check counts as hung; ten times as long for checks of the tier ``CheckTier/long``. After
    /// the first hang, other checks of the same store wait for a twentieth of this time, but at least ten seconds, and
    /// those of the same group for a sixtieth, but at least five seconds; if they time out, they are reported as not
    /// run, with the reason.
    public var timeLimit: Duration
    /// The profile that selects the checks.
    public var profile: Profile

    /// Creates settings with defaults for those not given.
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
