extension BrokenStore {
    /// Flaws in lookup and deletion.
    static let lookup: [BrokenStore] = [
        .init(.missThrows, "Looking up what is not there gives nil", "GET-003", saying: "nil"),
        .init(.lookupHeedsCase, "Ids compare without ASCII case in lookups", "VAL-044", "OBS-003", saying: "case"),
        .init(.lookupTrimsID, "An id is compared byte for byte, spaces included", "GET-001", saying: "id"),
        .init(.deleteHeedsCase, "Ids compare without regard to ASCII case in deletions", "VAL-045", saying: "case"),
        .init(.deleteCountsIDs, "Deleting by ids returns the number of deleted rows", "GET-011", saying: "counted"),
        .init(.idsCutAtThousand, "Any number of ids is deleted at once", "GET-015", saying: "ids"),
        .init(.onlyFirstIDDeleted, "All ids of a deletion are deleted", "GET-015", saying: "ids"),
        .init(.deleteIgnoresSkip, "Deleting by a query heeds its skip", "GET-032", saying: "skip"),
        .init(.deleteIgnoresLimit, "Deleting by a query heeds its limit", "GET-031", "OBS-004", saying: "limit"),
        .init(.deleteIgnoresOrder, "Deleting by a query heeds its order", "GET-031", saying: "order"),
        .init(.deletingAllCountsNone, "Deleting everything returns the number of rows", "GET-022", saying: "number"),
        .init(.deleteIgnoresCondition, "Deleting by a query deletes only matches", "GET-033", saying: "skip and limit"),
        .init(.idTypeNotChecked, "An id of the wrong type finds nothing", "GET-002", saying: "type"),
        .init(.deletedSpellingKept, "An id that is inserted again has its new spelling", "GET-019", saying: "again"),
    ]

    /// Flaws in order.
    static let order: [BrokenStore] = [
        .init(.nullsLast, "Ascending, nulls come first", "ORD-006", saying: "without a value"),
        .init(.nullsFirstInBothOrders, "Descending, nulls come last", "ORD-007", saying: "without a value"),
        .init(.tiesUnordered, "Rows equal in all terms come by id", "ORD-034", saying: "id"),
        .init(.tiesFollowDescending, "Ties come by ascending id in a descending order, too", "ORD-005", saying: "id"),
        .init(.secondTermIgnored, "An order may have several terms", "ORD-008", saying: "order"),
        .init(.textOrderIgnoresCase, "Text is ordered by bytes, not by a collation", "ORD-027", saying: "bytes"),
        .init(.textOrderByNumber, "\"12\" comes before \"2\"", "ORD-027", saying: "bytes"),
        .init(.idsOrderedByLength, "Ids are ordered as texts", "ORD-031", saying: "id"),
        .init(.intIDsOrderedAsText, "Integer ids are ordered as numbers", "ORD-036", saying: "numerically"),
        .init(.idOrderHeedsCase, "Ids are ordered as they compare, without regard to case", "ORD-031", saying: "case"),
        .init(.nanLast, "NaN comes after null and before all numbers", "ORD-023", saying: "NaN"),
        .init(.textOrderInUTF16, "Texts are ordered by UTF-8 bytes", "ORD-027", saying: "bytes"),
        .init(.integersOrderedAsDoubles, "Integers beyond 2^53 are ordered exactly", "ORD-020", saying: "64 bits"),
        .init(.instantsOrderedByMillisecond, "Instants are ordered to 100 ns", "ORD-024", saying: "100 ns"),
        .init(.descendingIDIgnored, "Ids can be ordered descending", "ORD-033", saying: "desc"),
        .init(.falseAfterTrue, "false comes before true", "ORD-019", saying: "bool"),
        .init(.doublesOrderedByBits, "Negative doubles are ordered by value", "ORD-021", saying: "double"),
    ]

    /// Flaws in paging, counting and selecting.
    static let paging: [BrokenStore] = [
        .init(.unselectedOrderIgnored, "Rows may be ordered by unselected columns", "ORD-072", saying: "select"),
        .init(.skipBeforeOrder, "Rows are skipped after they were ordered", "ORD-039", saying: "skip"),
        .init(.limitBeforeOrder, "Rows are limited after they were ordered", "ORD-038", saying: "limit"),
        .init(.skipOffByOne, "Skip leaves out exactly so many rows", "ORD-039", saying: "skip"),
        .init(.limitOffByOne, "Limit gives exactly so many rows", "ORD-038", saying: "limit"),
        .init(.limitZeroIsNone, "A limit of 0 gives no row", "ORD-042", saying: "0"),
        .init(.skipPastEndWraps, "Past the end there is nothing", "ORD-043", saying: "end"),
        .init(.negativeLimitAccepted, "A negative limit is refused", "ORD-045", saying: "negative"),
        .init(.countAfterLimit, "The total count is of all that match, whatever the limit", "ORD-051", saying: "count"),
        .init(.countUntilStop, "The total count is complete when the scan was stopped", "ORD-056", saying: "stop"),
        .init(.countNotAsked, "There is no total count unless it was asked for", "ORD-055", saying: "count"),
        .init(.countHeedsLimit, "count does not heed the limit", "ORD-057", saying: "count"),
        .init(.scanDoesNotStop, "A scan ends when its body says so", "ORD-060", saying: "stop"),
        .init(.versionNotSelected, "version comes with every selection", "ORD-066", saying: "version"),
        .init(.unknownSelectionIgnored, "Selecting an undefined column is refused", "ORD-073", saying: "column"),
        .init(.selectionIgnored, "Only the selected columns come", "ORD-069", saying: "select"),
        .init(.countAfterSkip, "The total count is of all that match, whatever is skipped", "ORD-051", saying: "count"),
    ]

    /// Flaws in indexes.
    static let indexes: [BrokenStore] = [
        .init(.indexKeepsDeletedRows, "A deletion takes the row out of every index", "GET-018", saying: "index"),
        .init(.indexKeepsOldValues, "A changed value leaves the index", "UPS-048", "OBS-009", saying: "index"),
        .init(.indexMissesUpdates, "A changed value is found by the index", "UPS-041", saying: "index"),
        .init(.indexNotFilled, "A new index is filled from the rows there are", "TAB-100", saying: "index"),
        .init(.indexLeavesOutNulls, "Rows with null are found through an index, too", "UPS-040", saying: "null"),
        .init(.indexForOr, "An index for one branch of an or does not answer for the others", "FIL-047", saying: "or"),
        .init(.indexForNot, "An index is not used for the opposite of what it finds", "FIL-041", saying: "not"),
        .init(.indexForNotEqual, "An index is not used for != as if it were ==", "FIL-011", saying: "equal"),
        .init(.indexCutsFractions, "An integer column compares with 11.1 exactly", "FIL-067", saying: "double"),
        .init(.indexUpperBoundExcluded, "The upper bound of <= is part of the range", "FIL-124", saying: "range"),
        .init(.indexLowerBoundIncluded, "The lower bound of > is not part of the range", "FIL-054", saying: "range"),
        .init(.indexForgetsTheSign, "Negative integers come first in an index", "FIL-056", saying: "negative"),
        .init(.indexEndsAtNUL, "A text in an index does not end at NUL", "FIL-089", saying: "NUL"),
        .init(.indexPrefixEndsAtZ, "A prefix in an index is followed by any character", "FIL-063", saying: "prefix"),
        .init(.indexForgetsOtherConditions, "Counting by an index heeds other conditions", "FIL-048", saying: "count"),
        .init(.indexLostOnReopen, "Indexes are there after reopening", "TAB-031", saying: "reopen"),
        .init(.literalOnTheLeftNotTurned, "A literal on the left reverses the comparison", "FIL-012", saying: "left"),
        .init(.duplicateInListFindsTwice, "A value twice in a list finds rows once", "FIL-032", saying: "duplicate"),
        .init(.idConditionsHeedCase, "Ids compare without ASCII case in conditions", "FIL-123", saying: "case"),
        .init(.rollbackKeepsIndexes, "A rollback takes back the changes of indexes", "TRN-012", saying: "roll"),
        .init(.indexBehindInWrite, "A transaction finds its own changes by an index", "TRN-025", saying: "index"),
        .init(.indexCountsNaN, "NaN is neither less nor greater than a number in an index", "FIL-075", saying: "NaN"),
        .init(.indexSplitsZero, "-0.0 equals 0.0, through an index, too", "FIL-072", saying: "0.0"),
    ]
}
