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
    /// The engine below a store.
    case engine = "ENG"
    /// Amounts and waits that take minutes.
    case long = "LNG"

    // Checks of servers, in the library `TidelineServerConformance`.

    /// The requests that a server accepts, and the form of its responses.
    case serverRequests = "SRV-1"
    /// Lists, pages, and counts of a server.
    case serverLists = "SRV-2"
    /// Rows that a server inserts, and their ids.
    case serverInserts = "SRV-3"
    /// Changes of a server's rows, and their versions.
    case serverUpdates = "SRV-4"
    /// Rows that a server deletes and restores.
    case serverDeletes = "SRV-5"
    /// The timestamps of a server, by which clients pull.
    case serverStamps = "SRV-6"
    /// Filters that a server evaluates.
    case serverFilters = "SRV-7"
    /// Values that a server stores.
    case serverValues = "SRV-8"
    /// Requests of several clients of a server at the same time.
    case serverConcurrency = "SRV-9"
    /// A dialect with real clients and a server, over a network with faults.
    case dialects = "DIA"

    /// Whether the checks of the group are about servers instead of stores.
    package var isOfServers: Bool { self == .dialects || rawValue.hasPrefix("SRV") }

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
        case .engine: "Key-value engine"
        case .long: "Long runs"
        case .serverRequests: "Requests and responses"
        case .serverLists: "Lists and pages"
        case .serverInserts: "Inserts and ids"
        case .serverUpdates: "Updates and versions"
        case .serverDeletes: "Deleted rows"
        case .serverStamps: "Timestamps"
        case .serverFilters: "Filters"
        case .serverValues: "Values"
        case .serverConcurrency: "Concurrent clients"
        case .dialects: "Dialects"
        }
    }
}
