extension Check {
    /// Random queries beside the evaluator.
    static let modelQueries: [Check] = []
}
