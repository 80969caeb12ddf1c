#if Commands
internal import TidelineStore

/// The task of a worker: a line of JSON on its standard input.
struct WorkerTask: Codable, Sendable {
    var checks: [String]
    var seed: UInt64
    var rounds: Int
    var rows: Int
    /// The time limit in seconds.
    var timeLimit: Double
    var profile: Profile
    /// The checks that timed out in earlier workers.
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

/// A message from a worker: a line of JSON.
enum WorkerMessage: Codable, Sendable {
    /// The store was opened and declares these capabilities.
    case declared(StoreCapabilities)
    /// A check begins.
    case began(String)
    /// A check has ended.
    case ended(CheckResult)
}
#endif
