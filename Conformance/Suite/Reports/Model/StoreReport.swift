public import TidelineStore

/// The results for one store, or for one dialect of a server.
public struct StoreReport: Sendable, Hashable, Codable {
    /// Its name.
    public var name: String
    /// The capabilities that it declares, or `nil` if they could not be read.
    public var capabilities: StoreCapabilities?
    /// The result of each check, in the order of the checks.
    public var results: [CheckResult]
    /// The verdict for each profile; empty for a server.
    public var profiles: [ProfileVerdict]
    /// The number of checks by result.
    public var totals: StatusTotals
    /// The total duration in seconds.
    public var seconds: Double

    /// Creates the report of a store; `all` are the suite's checks, or none for a report without verdicts.
    package init(
        name: String, capabilities: StoreCapabilities?, results: [CheckResult], seconds: Double,
        among all: [Check] = Check.all
    ) {
        self.name = name
        self.capabilities = capabilities
        self.results = results
        self.profiles =
            all.isEmpty ? [] : Profile.reported(results).map { ProfileVerdict($0, results: results, among: all) }
        self.totals = StatusTotals(results)
        self.seconds = seconds
    }

    /// Returns the result of a check, or `nil` if it was not requested.
    func result(of check: CheckSummary) -> CheckResult? { results.first { $0.id == check.id } }
}

/// The number of checks by result.
public struct StatusTotals: Sendable, Hashable, Codable {
    /// ``CheckStatus/passed``.
    public var passed = 0
    /// ``CheckStatus/failed``.
    public var failed = 0
    /// ``CheckStatus/harnessError``.
    public var harnessError = 0
    /// ``CheckStatus/skipped``.
    public var skipped = 0
    /// ``CheckStatus/knownFailure``.
    public var knownFailure = 0
    /// ``CheckStatus/unexpectedPass``.
    public var unexpectedPass = 0
    /// ``CheckStatus/tolerated``.
    public var tolerated = 0
    /// ``CheckStatus/notRun``.
    public var notRun = 0

    /// Counts results.
    package init(_ results: some Sequence<CheckResult>) {
        for result in results { self[result.status] += 1 }
    }

    /// The number of checks with the given result.
    public subscript(status: CheckStatus) -> Int {
        get { self[keyPath: StatusTotals.path(status)] }
        set { self[keyPath: StatusTotals.path(status)] = newValue }
    }

    /// The total number of checks.
    public var all: Int { CheckStatus.allCases.reduce(0) { $0 + self[$1] } }

    /// Decodes the numbers; one that is missing, as in a report of an earlier version, is 0.
    public init(from decoder: any Decoder) throws {
        let numbers = try decoder.singleValueContainer().decode([String: Int].self)
        for status in CheckStatus.allCases { self[status] = numbers[status.rawValue] ?? 0 }
    }

    private static func path(_ status: CheckStatus) -> WritableKeyPath<StatusTotals, Int> {
        switch status {
        case .passed: \.passed
        case .failed: \.failed
        case .harnessError: \.harnessError
        case .skipped: \.skipped
        case .knownFailure: \.knownFailure
        case .unexpectedPass: \.unexpectedPass
        case .tolerated: \.tolerated
        case .notRun: \.notRun
        }
    }
}

/// Checks that did not run for the same reason.
struct Omission {
    /// The stores on which they did not run.
    var stores: [String]
    /// ``CheckStatus/skipped`` or ``CheckStatus/notRun``.
    var status: CheckStatus
    /// The reason.
    var reason: String
    /// The identifiers of the checks.
    var ids: [String]

    /// Returns all omissions of a report by status, with the largest first, combining stores with the same omissions.
    static func all(of report: ConformanceReport) -> [Omission] {
        let all = [CheckStatus.skipped, .notRun].flatMap { status in
            let omissions = report.stores.flatMap { Omission.all(of: $0, status) }
            return omissions.sorted { ($1.ids.count, $0.reason) < ($0.ids.count, $1.reason) }
        }
        return all.reduce(into: []) { merged, omission in
            let same = merged.firstIndex { other in
                (other.status, other.reason) == (omission.status, omission.reason) && other.ids == omission.ids
            }
            if let same { merged[same].stores += omission.stores } else { merged.append(omission) }
        }
    }

    private static func all(of store: StoreReport, _ status: CheckStatus) -> [Omission] {
        let reasons = Dictionary(grouping: store.results.filter { $0.status == status }) { $0.reason ?? "" }
        return reasons.map { Omission(stores: [store.name], status: status, reason: $0, ids: $1.map(\.id)) }
    }
}

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

    /// Creates the verdict on a profile from results; those of all checks that lack a result did not run.
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
