extension Check {
    /// Random operations and limits.
    static let model: [Check] = modelScripts + modelPaths + modelLimits + modelQueries
}
