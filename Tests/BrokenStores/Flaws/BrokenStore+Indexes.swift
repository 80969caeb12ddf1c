extension BrokenStore {
    /// Flaws in indexes.
    static let indexes: [BrokenStore] = [
        BrokenStore(
            .indexKeepsDeletedRows, breaks: "A deletion takes the row out of every index",
            foundBy: ["GET-018"], saying: "index"),
        BrokenStore(
            .indexKeepsOldValues, breaks: "A changed value leaves the index",
            foundBy: ["UPS-048", "OBS-009"], saying: "index"),
        BrokenStore(
            .indexMissesUpdates, breaks: "A changed value is found by the index",
            foundBy: ["UPS-041"], saying: "index"),
        BrokenStore(
            .indexNotFilled, breaks: "A new index is filled from the rows there are",
            foundBy: ["TAB-100"], saying: "index"),
        BrokenStore(
            .indexLeavesOutNulls, breaks: "Rows with null are found through an index, too",
            foundBy: ["UPS-040"], saying: "null"),
        BrokenStore(
            .indexForOr, breaks: "An index that serves one branch of an or does not answer for the others",
            foundBy: ["FIL-047"], saying: "or"),
        BrokenStore(
            .indexForNot, breaks: "An index is not used for the opposite of what it finds",
            foundBy: ["FIL-041"], saying: "not"),
        BrokenStore(
            .indexForNotEqual, breaks: "An index is not used for != as if it were ==",
            foundBy: ["FIL-011"], saying: "equal"),
        BrokenStore(
            .indexCutsFractions, breaks: "An integer column compares with 11.1 exactly",
            foundBy: ["FIL-067"], saying: "double"),
        BrokenStore(
            .indexUpperBoundExcluded, breaks: "The upper bound of <= is part of the range",
            foundBy: ["FIL-124"], saying: "range"),
        BrokenStore(
            .indexLowerBoundIncluded, breaks: "The lower bound of > is not part of the range",
            foundBy: ["FIL-054"], saying: "range"),
        BrokenStore(
            .indexForgetsTheSign, breaks: "Negative integers come before positive ones in an index",
            foundBy: ["FIL-056"], saying: "negative"),
        BrokenStore(
            .indexEndsAtNUL, breaks: "A text in an index does not end at NUL",
            foundBy: ["FIL-089"], saying: "NUL"),
        BrokenStore(
            .indexPrefixEndsAtZ, breaks: "A prefix in an index is followed by any character",
            foundBy: ["FIL-063"], saying: "prefix"),
        BrokenStore(
            .indexForgetsOtherConditions, breaks: "Counting by an index heeds the conditions it does not serve",
            foundBy: ["FIL-048"], saying: "count"),
        BrokenStore(
            .indexLostOnReopen, breaks: "Indexes are there after reopening",
            foundBy: ["TAB-031"], saying: "reopen"),
        BrokenStore(
            .literalOnTheLeftNotTurned, breaks: "A literal on the left turns the comparison around",
            foundBy: ["FIL-012"], saying: "left"),
        BrokenStore(
            .duplicateInListFindsTwice, breaks: "A value that is twice in a list finds its rows once",
            foundBy: ["FIL-032"], saying: "duplicate"),
        BrokenStore(
            .idConditionsHeedCase, breaks: "Ids compare without regard to ASCII case in conditions",
            foundBy: ["FIL-123"], saying: "case"),
        BrokenStore(
            .rollbackKeepsIndexes, breaks: "A rollback takes back the changes of indexes",
            foundBy: ["TRN-012"], saying: "roll"),
        BrokenStore(
            .indexBehindInWrite, breaks: "Queries of a transaction find its own changes through an index",
            foundBy: ["TRN-025"], saying: "index"),
        BrokenStore(
            .indexCountsNaN, breaks: "NaN is neither less nor greater than a number, through an index, too",
            foundBy: ["FIL-075"], saying: "NaN"),
        BrokenStore(
            .indexSplitsZero, breaks: "-0.0 equals 0.0, through an index, too",
            foundBy: ["FIL-072"], saying: "0.0"),
    ]
}
