internal import Foundation
package import TidelineSupport

/// The results of a run, from which reports of all forms are made.
///
/// The JSON form has a version, ``schema``; ``init(json:)`` decodes it.
public struct ConformanceReport: Sendable, Hashable, Codable {
    /// The current version of the form; its number changes when a reader of the old version would misinterpret the new
    /// one.
    public static let currentSchema = "tideline-conformance/1"

    /// The version of this report's form.
    public private(set) var schema = ConformanceReport.currentSchema
    /// The suite that ran.
    public var suite: SuiteSummary
    /// The settings of the run.
    public var settings: ReportSettings
    /// The environment of the run.
    package var environment: ReportEnvironment
    /// Whether the run completed. If not, the remaining checks are ``CheckStatus/notRun``.
    public var isComplete: Bool
    /// The requested checks, in order.
    public var checks: [CheckSummary]
    /// The results for each store, or for each dialect of a server.
    public var stores: [StoreReport]

    /// Creates a report.
    package init(
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

    /// Whether any result is a failure: a promise that does not hold and is neither known to fail nor tolerated, one
    /// that holds although it is known to fail, or an error of the suite itself.
    public var hasFailures: Bool { stores.contains { $0.results.contains { $0.status.isFailure } } }

    /// The results as text for a terminal, with the reason and the end of the script of each failure.
    public var text: String { TerminalReport().text(of: self) }

    /// The failures of a strict run besides ``hasFailures``: checks that were skipped, tolerated, not run, or known to
    /// fail, except those that no store or dialect could all pass.
    package var strictFailures: Int {
        stores.reduce(0) { sum, store in
            sum + store.results.count { $0.status != .passed && !$0.status.isFailure && $0.isExcluded != true }
        }
    }

    /// The groups of the checks, in order.
    public var groups: [CheckGroup] {
        let present = Set(checks.map(\.group))
        return CheckGroup.allCases.filter { present.contains($0) }
    }

    /// The word for what each column of the report is about: a store, or a dialect of a server.
    var subject: String { settings.server == nil ? "store" : "dialect" }

    /// Returns the checks of a group.
    func checks(of group: CheckGroup) -> [CheckSummary] { checks.filter { $0.group == group } }

    /// Returns the check with the given identifier.
    func check(_ id: String) -> CheckSummary? { checks.first { $0.id == id } }
}

/// The suite that produced a report.
public struct SuiteSummary: Sendable, Hashable, Codable {
    /// The version of the package.
    public var version: String
    /// The total number of checks.
    public var checks: Int

    /// Creates a summary of a suite.
    package init(version: String, checks: Int) {
        self.version = version
        self.checks = checks
    }

    /// The summary of this suite.
    public static var current: SuiteSummary { SuiteSummary(version: "0.1.0", checks: Check.all.count) }
}

/// The settings of a run, as stored in a report.
public struct ReportSettings: Sendable, Hashable, Codable {
    /// ``ConformanceSettings/seed``.
    public var seed: UInt64
    /// ``ConformanceSettings/rounds``.
    public var rounds: Int
    /// ``ConformanceSettings/rows``.
    public var rows: Int
    /// ``ConformanceSettings/profile``.
    public var profile: Profile
    /// The address of the server that was checked, or `nil` if stores were checked.
    public var server: String?
    /// The other options of the command with which a check is repeated.
    package var options: [String]?

    /// Creates the settings of a run.
    package init(_ settings: ConformanceSettings, server: String? = nil) {
        self.server = server
        seed = settings.seed
        rounds = settings.rounds
        rows = settings.rows
        profile = settings.profile
    }
}

/// A check, as stored in a report, so that a report stays readable with another version of the suite.
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

    /// Creates a summary of a check.
    package init(_ check: Check) {
        self.init(
            id: check.id, group: check.group, tier: check.tier, promise: check.promise,
            explanation: check.explanation, needs: check.needs)
    }

    /// Creates a summary of a check.
    package init(
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
