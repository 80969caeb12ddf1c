public import TidelineStore

/// What was found of one store.
public struct StoreReport: Sendable, Hashable, Codable {
    /// Its name.
    public var name: String
    /// What it declares; nil when it could not be asked.
    public var capabilities: StoreCapabilities?
    /// How each check went, in the order of the checks.
    public var results: [CheckResult]
    /// How far it has come with each profile.
    public var profiles: [ProfileVerdict]
    /// How many checks ended in which way.
    public var totals: StatusTotals
    /// How long all took, in seconds.
    public var seconds: Double

    /// What was found.
    ///
    /// - Parameter all: Every check of the suite, asked for or not, for the verdicts.
    public init(
        name: String, capabilities: StoreCapabilities?, results: [CheckResult], seconds: Double,
        among all: [Check] = Check.all
    ) {
        self.name = name
        self.capabilities = capabilities
        self.results = results
        self.profiles = Profile.allCases.map { ProfileVerdict($0, results: results, among: all) }
        self.totals = StatusTotals(results)
        self.seconds = seconds
    }

    /// How a check went; nil when it was not asked for.
    func result(of check: CheckSummary) -> CheckResult? { results.first { $0.id == check.id } }
}

/// How many checks ended in which way.
public struct StatusTotals: Sendable, Hashable, Codable {
    /// ``CheckStatus/passed``.
    public var passed = 0
    /// ``CheckStatus/failed``.
    public var failed = 0
    /// ``CheckStatus/kitError``.
    public var kitError = 0
    /// ``CheckStatus/skipped``.
    public var skipped = 0
    /// ``CheckStatus/knownFailure``.
    public var knownFailure = 0
    /// ``CheckStatus/unexpectedPass``.
    public var unexpectedPass = 0
    /// ``CheckStatus/notRun``.
    public var notRun = 0

    /// Of results.
    public init(_ results: some Sequence<CheckResult>) {
        for result in results { self[result.status] += 1 }
    }

    /// How many ended so.
    public subscript(status: CheckStatus) -> Int {
        get { self[keyPath: StatusTotals.path(status)] }
        set { self[keyPath: StatusTotals.path(status)] = newValue }
    }

    /// How many there are.
    public var all: Int { CheckStatus.allCases.reduce(0) { $0 + self[$1] } }

    private static func path(_ status: CheckStatus) -> WritableKeyPath<StatusTotals, Int> {
        switch status {
        case .passed: \.passed
        case .failed: \.failed
        case .kitError: \.kitError
        case .skipped: \.skipped
        case .knownFailure: \.knownFailure
        case .unexpectedPass: \.unexpectedPass
        case .notRun: \.notRun
        }
    }
}
