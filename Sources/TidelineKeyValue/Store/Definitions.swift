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
    /// Otherwise they are forgotten.
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

/// The known row counts, and which of them a transaction changed.
///
/// They stay valid from one transaction to the next if nothing else writes in between.
struct RowCounts {
    private var counts: [(rows: KeySpace, count: Int, isChanged: Bool)] = []

    /// Returns the number of rows in a key space, if it is known.
    subscript(rows: KeySpace) -> Int? {
        for known in counts where known.rows == rows { return known.count }
        return nil
    }

    /// Moves the counts out of this value. A changed value must have a single owner, or it is copied first.
    mutating func take() -> RowCounts {
        let taken = self
        self = RowCounts()
        return taken
    }

    /// Records the number of rows after a change by a transaction.
    mutating func change(_ rows: KeySpace, to count: Int) {
        for index in counts.indices where counts[index].rows == rows {
            counts[index].count = count
            counts[index].isChanged = true
            return
        }
        counts.append((rows, count, true))
    }

    /// Calls `body` with each count that the transaction changed and marks it as written.
    mutating func writeChanged(_ body: (_ rows: KeySpace, _ count: Int) throws -> Void) rethrows {
        for index in counts.indices where counts[index].isChanged {
            try body(counts[index].rows, counts[index].count)
            counts[index].isChanged = false
        }
    }
}

/// Distinguishes the commits of other processes and other stores from those of this store.
struct ExternalCommitCounter {
    /// A number that increases when others have committed.
    private(set) var number: UInt64 = 0
    /// The last commit that was accounted for, or `nil` before the first one.
    private var lastCommit: UInt64?
    /// Whether a transaction of this store is running. Its commit may be visible before it ends here.
    private var isWriting = false

    mutating func beginWriting() { isWriting = true }

    /// Accounts for the commit of a transaction of this store.
    ///
    /// - Parameters:
    ///   - preceding: The number of the commit that preceded the transaction.
    ///   - commit: The number of its own commit, or `nil` if it changed nothing or was rolled back.
    mutating func endWriting(after preceding: UInt64?, at commit: UInt64?) {
        isWriting = false
        if let preceding { update(to: preceding) }
        if let commit { lastCommit = commit }
    }

    /// Accounts for the commits of others up to the given one.
    mutating func update(to commit: UInt64) {
        if let lastCommit {
            // A snapshot may precede the last own commit.
            guard commit > lastCommit else { return }
            number += 1
        }
        lastCommit = commit
    }

    /// Returns ``number`` as of a snapshot. While a transaction of this store is running, nobody else commits.
    mutating func number(at commit: UInt64) -> UInt64 {
        if !isWriting { update(to: commit) }
        return number
    }
}
