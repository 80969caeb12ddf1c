/// How much of the suite a store is held to; each profile holds the one before it.
public enum Profile: String, Sendable, Hashable, Codable, CaseIterable {
    /// What the sync core asks of a store, and no more.
    case syncCore = "sync-core"
    /// All that concerns one thread of one process.
    case standard
    /// And that nothing acknowledged is lost.
    case durable
    /// Everything.
    case full

    /// The name as a heading has it.
    public var title: String {
        switch self {
        case .syncCore: "Sync core"
        case .standard: "Standard"
        case .durable: "Durable"
        case .full: "Full"
        }
    }

    /// The groups that belong to it.
    public var groups: Set<CheckGroup> {
        switch self {
        case .syncCore: [.syncCore]
        case .standard:
            [.syncCore, .lifecycle, .tables, .upsert, .lookup, .filters, .order, .values, .systemTables]
        case .durable: Profile.standard.groups.union([.durability])
        case .full: Set(CheckGroup.allCases)
        }
    }

    /// Its checks, in the order of ``Check/all``.
    public var checks: [Check] { Check.all.filter { groups.contains($0.group) } }
}
