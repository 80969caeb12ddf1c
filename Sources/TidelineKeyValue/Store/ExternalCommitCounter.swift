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
