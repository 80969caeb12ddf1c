extension BrokenStore {
    /// Flaws in order.
    static let order: [BrokenStore] = [
        BrokenStore(
            .nullsLast, breaks: "Ascending, nulls come first",
            foundBy: ["ORD-006"], saying: "without a value"),
        BrokenStore(
            .nullsFirstInBothOrders, breaks: "Descending, nulls come last",
            foundBy: ["ORD-007"], saying: "without a value"),
        BrokenStore(
            .tiesUnordered, breaks: "Rows equal in all terms come by id",
            foundBy: ["ORD-034"], saying: "id"),
        BrokenStore(
            .tiesFollowDescending, breaks: "Ties come by ascending id in a descending order, too",
            foundBy: ["ORD-005"], saying: "id"),
        BrokenStore(
            .secondTermIgnored, breaks: "An order may have several terms",
            foundBy: ["ORD-008"], saying: "order"),
        BrokenStore(
            .textOrderIgnoresCase, breaks: "Text is ordered by bytes, not by a collation",
            foundBy: ["ORD-027"], saying: "bytes"),
        BrokenStore(
            .textOrderByNumber, breaks: "\"12\" comes before \"2\"",
            foundBy: ["ORD-027"], saying: "bytes"),
        BrokenStore(
            .idsOrderedByLength, breaks: "Ids are ordered as texts",
            foundBy: ["ORD-031"], saying: "id"),
        BrokenStore(
            .intIDsOrderedAsText, breaks: "Integer ids are ordered as numbers",
            foundBy: ["ORD-036"], saying: "numerically"),
        BrokenStore(
            .idOrderHeedsCase, breaks: "Ids are ordered as they compare, without regard to case",
            foundBy: ["ORD-031"], saying: "case"),
        BrokenStore(
            .nanLast, breaks: "NaN comes after null and before all numbers",
            foundBy: ["ORD-023"], saying: "NaN"),
        BrokenStore(
            .textOrderInUTF16, breaks: "Texts are ordered by UTF-8 bytes",
            foundBy: ["ORD-027"], saying: "bytes"),
        BrokenStore(
            .integersOrderedAsDoubles, breaks: "Integers beyond 2^53 are ordered exactly",
            foundBy: ["ORD-020"], saying: "64 bits"),
        BrokenStore(
            .instantsOrderedByMillisecond, breaks: "Instants are ordered to 100 ns",
            foundBy: ["ORD-024"], saying: "100 ns"),
        BrokenStore(
            .descendingIDIgnored, breaks: "Ids can be ordered descending",
            foundBy: ["ORD-033"], saying: "desc"),
        BrokenStore(
            .falseAfterTrue, breaks: "false comes before true",
            foundBy: ["ORD-019"], saying: "bool"),
        BrokenStore(
            .doublesOrderedByBits, breaks: "Negative doubles are ordered by value",
            foundBy: ["ORD-021"], saying: "double"),
    ]
}
