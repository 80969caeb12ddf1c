extension Check {
    /// Transactions and snapshots.
    static let transactions: [Check] = []
}
