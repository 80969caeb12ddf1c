internal import TidelineStore

/// The definitions and numbers of rows that are known, and whether the definitions may be changing right now.
struct Definitions {
    private(set) var catalog: Catalog
    private(set) var isChanging = false
    /// The number of a commit as of which the catalog is known to be this one.
    private(set) var commit: UInt64?
    /// Grows whenever a change of definitions begins or ends.
    private(set) var changes = 0
    /// The numbers of rows as of ``commit``; where no other process writes, as of now.
    private(set) var rowCounts = RowCounts()

    init(catalog: Catalog) { self.catalog = catalog }

    mutating func beginChange() {
        isChanging = true
        changes += 1
    }

    /// - Parameter changed: The new definitions, nil when nothing came of the change.
    mutating func endChange(_ changed: Catalog?) {
        isChanging = false
        changes += 1
        forgetRowCounts()
        if let changed {
            catalog = changed
            commit = nil
        }
    }

    /// Takes up definitions that were read from the engine as of a commit.
    mutating func learn(_ loaded: Catalog, at commit: UInt64?) {
        guard catalog.generation <= loaded.generation else { return }
        if catalog.generation < loaded.generation { catalog = loaded }
        if self.commit != commit { forgetRowCounts() }
        self.commit = commit
    }

    /// Takes up what a transaction left that was committed and changed no definitions.
    mutating func learn(_ outcome: TransactionOutcome) {
        guard outcome.catalog === catalog else { return forgetRowCounts() }
        if let commit = outcome.commit { self.commit = commit }
        rowCounts = outcome.rowCounts
    }

    /// Gives the numbers of rows to a transaction, which brings them back with ``learn(_:)`` if it is committed: so that they
    /// need not be copied to be changed.
    mutating func lendRowCounts() -> (known: Definitions, rowCounts: RowCounts) {
        let lent = rowCounts
        forgetRowCounts()
        return (self, lent)
    }

    /// Whether what is known of the rows is true for a transaction that came after a commit.
    ///
    /// - Parameter isShared: Whether other processes may have written since.
    func isCurrent(after commit: UInt64?, isShared: Bool) -> Bool {
        !isShared || commit.map { self.commit == $0 } ?? false
    }

    mutating func forgetRowCounts() { rowCounts = RowCounts() }
}

/// What a transaction leaves behind when it is committed.
struct TransactionOutcome {
    let catalog: Catalog
    /// The number of the commit, where that is known.
    let commit: UInt64?
    let rowCounts: RowCounts
}
