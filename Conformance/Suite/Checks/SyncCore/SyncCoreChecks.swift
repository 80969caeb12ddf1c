extension Check {
    /// The requirements of the sync core: its tables, queries, and transactions.
    static let syncCore: [Check] = syncTables + syncQueue + syncSettings + syncRows
}
