/// The parts of a store that checks are grouped by; the raw value begins their ids.
public enum CheckGroup: String, Sendable, Hashable, Codable, CaseIterable {
    /// What the sync core asks of a store.
    case syncCore = "SYN"
    /// Opening, closing, files and their sharing.
    case lifecycle = "LIF"
    /// Definitions of tables and their evolution.
    case tables = "TAB"
    /// Inserting and merging rows.
    case upsert = "UPS"
    /// Look-up and deletion.
    case lookup = "GET"
    /// Conditions of queries.
    case filters = "FIL"
    /// Order, paging, count and selection.
    case order = "ORD"
    /// Values and ids.
    case values = "VAL"
    /// The tables of the sync core.
    case systemTables = "SYS"
    /// Transactions and snapshots.
    case transactions = "TRN"
    /// Threads and processes.
    case concurrency = "CON"
    /// Death of the process, loss of power, failing and damaged files.
    case durability = "DUR"
    /// Many rows, many openings, cancellation.
    case scale = "SCA"
    /// Random operations beside a model, and limits.
    case model = "MOD"

    /// What the group is about, as a heading.
    public var title: String {
        switch self {
        case .syncCore: "What the sync core asks"
        case .lifecycle: "Lifecycle"
        case .tables: "Tables and their evolution"
        case .upsert: "Upsert"
        case .lookup: "Look-up and deletion"
        case .filters: "Filters"
        case .order: "Order, paging, count, selection"
        case .values: "Values and ids"
        case .systemTables: "System tables"
        case .transactions: "Transactions"
        case .concurrency: "Concurrency"
        case .durability: "Durability and faults"
        case .scale: "Scale"
        case .model: "Model and limits"
        }
    }
}
