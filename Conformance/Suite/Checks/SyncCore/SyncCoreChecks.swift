extension Check {
    /// What the sync core asks of a store, and no more: its tables, its queries, its transactions.
    static let syncCore: [Check] = syncTables + syncQueue + syncSettings + syncRows
}
