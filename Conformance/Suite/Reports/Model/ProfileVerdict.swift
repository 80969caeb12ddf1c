/// The verdict on a store for one profile.
public struct ProfileVerdict: Sendable, Hashable, Codable {
    /// The possible verdicts.
    public enum Outcome: String, Sendable, Hashable, Codable, CaseIterable {
        /// Every check passed, except those of promises that the store declares not to make.
        case reached
        /// No check failed, but some did not run, so nothing is proven.
        case open
        /// At least one promise does not hold, whether the failure is known or not.
        case missed
    }

    /// The profile.
    public var profile: Profile
    /// The verdict.
    public var outcome: Outcome
    /// The number of checks in the profile, requested or not.
    public var checks: Int
    /// The number of checks that passed.
    public var passed: Int
    /// The number of checks that failed, including known failures.
    public var failed: Int
    /// The number of checks of promises that the store declares not to make.
    public var skipped: Int
    /// The number of checks that did not run because they were not requested, a hook is missing, or the suite itself
    /// failed.
    public var notRun: Int

    /// Creates the verdict on a profile from results.
    ///
    /// - Parameter all: Every check of the suite; checks without a result did not run.
    package init(_ profile: Profile, results: [CheckResult], among all: [Check] = Check.all) {
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

    /// The verdict in a few words for a table cell.
    public var words: String {
        switch outcome {
        case .reached: "reached"
        case .missed: "\(failed) failed"
        case .open where passed == 0: "not run"
        case .open: "\(notRun) not run"
        }
    }
}
