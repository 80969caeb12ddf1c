extension BrokenStore {
    /// Flaws in paging, counting and selecting.
    static let paging: [BrokenStore] = [
        BrokenStore(
            .unselectedOrderIgnored, breaks: "Rows may be ordered by a column that is not selected",
            foundBy: ["ORD-072"], saying: "select"),
        BrokenStore(
            .skipBeforeOrder, breaks: "Rows are skipped after they were ordered",
            foundBy: ["ORD-039"], saying: "skip"),
        BrokenStore(
            .limitBeforeOrder, breaks: "Rows are limited after they were ordered",
            foundBy: ["ORD-038"], saying: "limit"),
        BrokenStore(
            .skipOffByOne, breaks: "Skip leaves out exactly so many rows",
            foundBy: ["ORD-039"], saying: "skip"),
        BrokenStore(
            .limitOffByOne, breaks: "Limit gives exactly so many rows",
            foundBy: ["ORD-038"], saying: "limit"),
        BrokenStore(
            .limitZeroIsNone, breaks: "A limit of 0 gives no row",
            foundBy: ["ORD-042"], saying: "0"),
        BrokenStore(
            .skipPastEndWraps, breaks: "Past the end there is nothing",
            foundBy: ["ORD-043"], saying: "end"),
        BrokenStore(
            .negativeLimitAccepted, breaks: "A negative limit is refused",
            foundBy: ["ORD-045"], saying: "negative"),
        BrokenStore(
            .countAfterLimit, breaks: "The total count is of all that match, whatever the limit",
            foundBy: ["ORD-051"], saying: "count"),
        BrokenStore(
            .countUntilStop, breaks: "The total count is complete when the scan was stopped",
            foundBy: ["ORD-056"], saying: "stop"),
        BrokenStore(
            .countNotAsked, breaks: "There is no total count unless it was asked for",
            foundBy: ["ORD-055"], saying: "count"),
        BrokenStore(
            .countHeedsLimit, breaks: "count does not heed the limit",
            foundBy: ["ORD-057"], saying: "count"),
        BrokenStore(
            .scanDoesNotStop, breaks: "A scan ends when its body says so",
            foundBy: ["ORD-060"], saying: "stop"),
        BrokenStore(
            .versionNotSelected, breaks: "version comes with every selection",
            foundBy: ["ORD-066"], saying: "version"),
        BrokenStore(
            .unknownSelectionIgnored, breaks: "Selecting a column that the table does not define is refused",
            foundBy: ["ORD-073"], saying: "column"),
        BrokenStore(
            .selectionIgnored, breaks: "Only the selected columns come",
            foundBy: ["ORD-069"], saying: "select"),
        BrokenStore(
            .countAfterSkip, breaks: "The total count is of all that match, whatever is skipped",
            foundBy: ["ORD-051"], saying: "count"),
    ]
}
