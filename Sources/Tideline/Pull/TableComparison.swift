/// The differences between the local rows that match a query and those on the server; see
/// ``SyncTable/verify(_:settings:)``.
///
/// Versions are compared, not the values of columns: a row that was changed on the server without a new version is not
/// found.
public struct TableComparison: Sendable, Hashable {
    /// The number of rows that match on the server.
    public internal(set) var serverRows = 0
    /// The number of rows that match in the local table.
    public internal(set) var localRows = 0
    /// The identifiers of the rows that the local table lacks.
    public internal(set) var missing: [String] = []
    /// The identifiers of the rows that only the local table has. A row that the server returns for the query of
    /// another incremental pull of the table is not among them.
    public internal(set) var onlyLocal: [String] = []
    /// The identifiers of the rows that have another version on the server.
    public internal(set) var different: [String] = []
    /// The identifiers of the rows that differ and have pending operations.
    public internal(set) var pending: [String] = []

    /// Whether a row differs, except for those with pending operations.
    public var hasDifferences: Bool { !missing.isEmpty || !onlyLocal.isEmpty || !different.isEmpty }
}

/// The result of ``SyncTable/repair(_:settings:)``.
public struct TableRepair: Sendable, Hashable {
    /// The differences that were found.
    public internal(set) var comparison: TableComparison
    /// The number of rows stored because they were missing or different.
    public internal(set) var rowsStored = 0
    /// The number of rows removed because the server does not have them.
    public internal(set) var rowsRemoved = 0
    /// The identifiers of the rows that were left as they are, because they have pending operations or changed during
    /// the repair.
    public internal(set) var skipped: [String] = []
}
