/// The areas into which checks are grouped. The raw value is the prefix of the identifiers.
public enum CheckGroup: String, Sendable, Hashable, Codable, CaseIterable {
    /// Requirements of the sync core.
    case syncCore = "SYN"
    /// Opening, closing, files, and sharing files.
    case lifecycle = "LIF"
    /// Table definitions and their evolution.
    case tables = "TAB"
    /// Inserting and merging rows.
    case upsert = "UPS"
    /// Lookup and deletion.
    case lookup = "GET"
    /// Query predicates.
    case filters = "FIL"
    /// Sorting, paging, counting, and column selection.
    case order = "ORD"
    /// Values and identifiers.
    case values = "VAL"
    /// The tables of the sync core.
    case systemTables = "SYS"
    /// Transactions and snapshots.
    case transactions = "TRN"
    /// Threads and processes.
    case concurrency = "CON"
    /// Process termination, power loss, and failing or damaged files.
    case durability = "DUR"
    /// Large tables, repeated opening, and cancellation.
    case scale = "SCA"
    /// Random operations compared with a model, and limits.
    case model = "MOD"
    /// The conditions of live queries.
    case observation = "OBS"

    /// The heading of the group in reports.
    public var title: String {
        switch self {
        case .syncCore: "Sync core requirements"
        case .lifecycle: "Lifecycle"
        case .tables: "Tables and their evolution"
        case .upsert: "Upsert"
        case .lookup: "Lookup and deletion"
        case .filters: "Filters"
        case .order: "Order, paging, counting, and selection"
        case .values: "Values and ids"
        case .systemTables: "System tables"
        case .transactions: "Transactions"
        case .concurrency: "Concurrency"
        case .durability: "Durability and faults"
        case .scale: "Scale"
        case .model: "Model and limits"
        case .observation: "Live queries"
        }
    }
}
