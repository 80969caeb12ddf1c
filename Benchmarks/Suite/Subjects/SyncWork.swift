/// What only a sync client does; a subject that is no store throws ``WorkNotApplicable``.
public enum SyncWork: Sendable {
    /// A first pull of the table from a server in this process.
    case initialPull(pageSize: Int, pagesPerTransaction: Int)
}
