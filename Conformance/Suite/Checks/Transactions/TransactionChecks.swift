extension Check {
    /// Transactions and snapshots.
    static let transactions: [Check] =
        transactionRollback + transactionIndexes + transactionBodies + transactionOwnChanges + transactionRewrites
        + transactionIsolation + transactionSnapshots + transactionScans + transactionRecovery + transactionRaces
        + transactionAmounts
}
