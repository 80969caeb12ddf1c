internal import TidelineConformance
internal import TidelineStore

/// What a worker is to do: a line of JSON on its standard input.
struct WorkerTask: Codable, Sendable {
    var checks: [String]
    var seed: UInt64
    var rounds: Int
    var rows: Int
    /// Seconds.
    var timeLimit: Double
    var profile: Profile
    /// Which checks have timed out in earlier workers.
    var timeOuts: TimeOuts.Known

    init(_ checks: some Sequence<Check>, _ settings: ConformanceSettings, _ timeOuts: TimeOuts.Known) {
        self.checks = checks.map(\.id)
        self.timeOuts = timeOuts
        seed = settings.seed
        rounds = settings.rounds
        rows = settings.rows
        timeLimit = settings.timeLimit / .seconds(1)
        profile = settings.profile
    }

    var settings: ConformanceSettings {
        ConformanceSettings(
            seed: seed, rounds: rounds, rows: rows, timeLimit: .seconds(timeLimit), profile: profile)
    }
}

/// What a worker tells as it goes on: a line of JSON each.
enum WorkerMessage: Codable, Sendable {
    /// The store was opened and declares this.
    case declared(StoreCapabilities)
    /// A check begins.
    case began(String)
    /// A check has ended.
    case ended(CheckResult)
}
