extension Check {
    /// Query predicates.
    static let filters: [Check] = [
        filterEquality, filterOperands, filterNulls, filterMembership, filterLogic, filterSize, filterRanges,
        filterTextRanges, filterNumbers, filterTextSearch, filterTextMatching, filterTextFunctions, filterArithmetic,
        filterDateParts, filterDateZones, filterIDs, filterErrors, filterSurroundings, filterAmounts,
    ].flatMap { $0 }
}
