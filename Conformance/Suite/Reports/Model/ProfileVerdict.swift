/// How far a store has come with a profile.
public struct ProfileVerdict: Sendable, Hashable, Codable {
    /// What is said of a profile.
    public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// Every check held, but for those of promises that the store declares not to give.
        case reached
        /// None failed, but some did not run: nothing is proven.
        case open
        /// At least one promise does not hold, known or not.
        case missed
    }

    /// The profile.
    public var profile: Profile
    /// What is said of it.
    public var outcome: Outcome
    /// How many checks it has, asked for or not.
    public var checks: Int
    /// How many held.
    public var passed: Int
    /// How many did not, known failures among them.
    public var failed: Int
    /// How many concern what the store declares not to give.
    public var skipped: Int
    /// How many did not run, as they were not asked for, a hook is missing, or the suite itself could not.
    public var notRun: Int

    /// What results say of a profile.
    ///
    /// - Parameter all: Every check of the suite; those without a result did not run.
    public init(_ profile: Profile, results: [CheckResult], among all: [Check] = Check.all) {
        let wanted = Set(all.lazy.filter { profile.groups.contains($0.group) }.map(\.id))
        let totals = StatusTotals(results.filter { wanted.contains($0.id) })
        self.profile = profile
        checks = wanted.count
        passed = totals.passed + totals.unexpectedPass
        failed = totals.failed + totals.knownFailure
        skipped = totals.skipped
        notRun = checks - passed - failed - skipped
        outcome = failed > 0 ? .missed : notRun > 0 ? .open : .reached
    }

    /// The verdict in a few words, for a cell of a table.
    public var words: String {
        switch outcome {
        case .reached: "reached"
        case .missed: "\(failed) failed"
        case .open where passed == 0: "not run"
        case .open: "\(notRun) not run"
        }
    }
}
