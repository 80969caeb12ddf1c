extension Check {
    /// Conditions of queries.
    static let filters: [Check] = []
}
