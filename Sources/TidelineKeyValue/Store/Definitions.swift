internal import TidelineStore

/// The cached definitions and row counts, and whether a change of definitions is in progress.
struct Definitions {
    private(set) var catalog: Catalog
    private(set) var isChanging = false
    /// The number of a commit for which the catalog is known to be current.
    private(set) var commit: UInt64?
    /// A counter that increases when a change of definitions begins or ends.
    private(set) var changes = 0
    /// The row counts as of ``commit``. If no other process writes, they are current.
    private(set) var rowCounts = RowCounts()
    var externalCommits = ExternalCommitCounter()

    init(catalog: Catalog) { self.catalog = catalog }

    mutating func beginChange() {
        isChanging = true
        changes += 1
    }

    /// - Parameter changed: The new definitions, or `nil` if the change was not committed.
    mutating func endChange(_ changed: Catalog?) {
        isChanging = false
        changes += 1
        forgetRowCounts()
        if let changed {
            catalog = changed
            commit = nil
        }
    }

    /// Caches definitions that were read from the engine as of a commit.
    mutating func update(_ loaded: Catalog, at commit: UInt64?) {
        guard catalog.generation <= loaded.generation else { return }
        if catalog.generation < loaded.generation { catalog = loaded }
        if self.commit != commit { forgetRowCounts() }
        self.commit = commit
    }

    /// Caches the state after a committed transaction. After a change of definitions, nothing is cached.
    mutating func update(_ outcome: TransactionOutcome) {
        externalCommits.endWriting(after: outcome.precedingCommit, at: outcome.commit)
        guard !isChanging, outcome.catalog === catalog else { return forgetRowCounts() }
        if let commit = outcome.commit { self.commit = commit }
        // If the transaction changed nothing, a read may have seen the commit of another process since then.
        guard outcome.commit != nil || outcome.precedingCommit == commit else { return forgetRowCounts() }
        rowCounts = outcome.rowCounts
    }

    /// Moves the row counts to a transaction, which returns them in its ``TransactionOutcome`` if it is committed.
    ///
    /// Moving them avoids a copy when the transaction changes them.
    mutating func checkOutRowCounts() -> (known: Definitions, rowCounts: RowCounts) {
        externalCommits.beginWriting()
        let lent = rowCounts
        forgetRowCounts()
        return (self, lent)
    }

    /// Whether the cached row counts are valid for a transaction that followed a commit.
    ///
    /// - Parameter isShared: Whether other processes may have written in the meantime.
    func isCurrent(after commit: UInt64?, isShared: Bool) -> Bool {
        !isShared || commit.map { self.commit == $0 } ?? false
    }

    mutating func forgetRowCounts() { rowCounts = RowCounts() }
}

/// The state after a committed transaction.
struct TransactionOutcome {
    let catalog: Catalog
    /// The number of the commit before the transaction, if it is known.
    let precedingCommit: UInt64?
    /// The number of the commit, if it is known and the transaction changed something.
    let commit: UInt64?
    let rowCounts: RowCounts
}
