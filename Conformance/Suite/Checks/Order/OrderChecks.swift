extension Check {
    /// Sorting, paging, counting, and column selection.
    static let order: [Check] = [
        orderKeys, orderWithConditions, orderTypes, orderIDs, orderPaging, orderPages, orderCount, orderScan,
        orderSelection, orderAmounts,
    ].flatMap { $0 }
}
