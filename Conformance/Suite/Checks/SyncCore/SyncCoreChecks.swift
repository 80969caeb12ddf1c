extension Check {
    /// What the sync core asks of a store.
    static let syncCore: [Check] = []
}
