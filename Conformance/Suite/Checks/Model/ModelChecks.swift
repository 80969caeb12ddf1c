extension Check {
    /// Random operations and limits.
    static let model: [Check] = modelQueries
}
