/// How much of the suite runs against a store. Each profile includes the one before it.
public enum Profile: String, Sendable, Hashable, Codable, CaseIterable {
    /// The requirements of the sync core only.
    case syncCore = "sync-core"
    /// Everything that concerns a single thread of a single process.
    case standard
    /// The standard profile, and that no acknowledged commit is lost.
    case durable
    /// Everything that takes seconds.
    case full
    /// Everything, including checks of the tier ``CheckTier/long``, which take minutes.
    case long

    /// The name for use as a heading.
    public var title: String {
        switch self {
        case .syncCore: "Sync core"
        case .standard: "Standard"
        case .durable: "Durable"
        case .full: "Full"
        case .long: "Long"
        }
    }

    /// The groups that belong to the profile.
    public var groups: Set<CheckGroup> {
        switch self {
        case .syncCore: [.syncCore]
        case .standard:
            [.syncCore, .lifecycle, .tables, .upsert, .lookup, .filters, .order, .values, .systemTables]
        case .durable: Profile.standard.groups.union([.durability])
        case .full: Profile.long.groups.subtracting([.long])
        case .long: Set(CheckGroup.allCases.filter { !$0.isOfServers })
        }
    }

    /// The profiles that a report of these results states a verdict on: all, but the longest only if it was run.
    static func reported(_ results: [CheckResult]) -> [Profile] {
        let long = Set(Profile.long.checks.map(\.id)).subtracting(Profile.full.checks.map(\.id))
        return allCases.filter { $0 != .long || results.contains { long.contains($0.id) } }
    }

    /// The profile's checks, in the order of ``Check/all``.
    public var checks: [Check] { Check.all.filter { groups.contains($0.group) } }
}
