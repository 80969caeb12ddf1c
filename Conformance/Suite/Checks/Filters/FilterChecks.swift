extension Check {
    /// Conditions of queries.
    static let filters: [Check] = [
        filterEquality, filterOperands, filterNulls, filterMembership, filterLogic, filterSize, filterRanges,
        filterTextRanges, filterNumbers, filterTextSearch, filterTextMatching, filterTextFunctions, filterArithmetic,
        filterDateParts, filterIDs, filterErrors, filterSurroundings,
    ].flatMap { $0 }
}
