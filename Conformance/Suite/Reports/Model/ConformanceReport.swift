internal import Foundation
public import TidelineSupport

/// What a run found: everything that a report of any form is made of.
///
/// As JSON it has a version, ``schema``; ``init(json:)`` reads it back.
public struct ConformanceReport: Sendable, Hashable, Codable {
    /// The version of the form; its number changes when a reader of the old one would misunderstand the new one.
    public static let currentSchema = "tideline-conformance/1"

    /// The version of this report's form.
    public private(set) var schema = ConformanceReport.currentSchema
    /// The suite that ran.
    public var suite: SuiteSummary
    /// How it ran.
    public var settings: ReportSettings
    /// Where it ran.
    public var environment: ReportEnvironment
    /// Whether the run came to its end; if not, the checks that were left are ``CheckStatus/notRun``.
    public var isComplete: Bool
    /// The checks that were asked for, in their order.
    public var checks: [CheckSummary]
    /// What was found, for each store.
    public var stores: [StoreReport]

    /// A report.
    public init(
        suite: SuiteSummary = .current, settings: ReportSettings, environment: ReportEnvironment = .current,
        isComplete: Bool = true, checks: [CheckSummary], stores: [StoreReport]
    ) {
        self.suite = suite
        self.settings = settings
        self.environment = environment
        self.isComplete = isComplete
        self.checks = checks
        self.stores = stores
    }

    /// Whether any store broke a promise, or a check could not be done.
    public var hasFailures: Bool { stores.contains { $0.results.contains { $0.status.isFailure } } }

    /// The groups that the checks belong to, in their order.
    public var groups: [CheckGroup] {
        let present = Set(checks.map(\.group))
        return CheckGroup.allCases.filter { present.contains($0) }
    }

    /// How the groups' checks are told apart in reports.
    func checks(of group: CheckGroup) -> [CheckSummary] { checks.filter { $0.group == group } }

    /// The check of a result.
    func check(_ id: String) -> CheckSummary? { checks.first { $0.id == id } }
}

/// Which suite a report is of.
public struct SuiteSummary: Sendable, Hashable, Codable {
    /// The version of the package.
    public var version: String
    /// How many checks there are in all.
    public var checks: Int

    /// A suite.
    public init(version: String, checks: Int) {
        self.version = version
        self.checks = checks
    }

    /// This suite.
    public static var current: SuiteSummary { SuiteSummary(version: "0.1.0", checks: Check.all.count) }
}

/// How a suite ran, as a report has it.
public struct ReportSettings: Sendable, Hashable, Codable {
    /// ``ConformanceSettings/seed``.
    public var seed: UInt64
    /// ``ConformanceSettings/rounds``.
    public var rounds: Int
    /// ``ConformanceSettings/rows``.
    public var rows: Int
    /// ``ConformanceSettings/profile``.
    public var profile: Profile

    /// Those of a run.
    public init(_ settings: ConformanceSettings) {
        seed = settings.seed
        rounds = settings.rounds
        rows = settings.rows
        profile = settings.profile
    }
}

/// A check, as a report has it: a report stays readable beside a suite of another version.
public struct CheckSummary: Sendable, Hashable, Codable {
    /// ``Check/id``.
    public var id: String
    /// ``Check/group``.
    public var group: CheckGroup
    /// ``Check/tier``.
    public var tier: CheckTier
    /// ``Check/promise``.
    public var promise: String
    /// ``Check/explanation``.
    public var explanation: String
    /// ``Check/needs``.
    public var needs: [CheckNeed]

    /// Of a check.
    public init(_ check: Check) {
        self.init(
            id: check.id, group: check.group, tier: check.tier, promise: check.promise,
            explanation: check.explanation, needs: check.needs)
    }

    /// A check.
    public init(
        id: String, group: CheckGroup, tier: CheckTier, promise: String, explanation: String = "",
        needs: [CheckNeed] = []
    ) {
        self.id = id
        self.group = group
        self.tier = tier
        self.promise = promise
        self.explanation = explanation
        self.needs = needs
    }
}
