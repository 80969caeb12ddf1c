extension BrokenStore {
    /// Flaws that only affect large amounts.
    static let amounts: [BrokenStore] = [
        BrokenStore(
            .longOrdersUnstable, breaks: "Rows equal in all terms come by id, however many there are",
            foundBy: ["ORD-075"], saying: "5000 rows"),
        BrokenStore(
            .orderTermsCutAtEight, breaks: "An order has as many terms as it is given",
            foundBy: ["ORD-076"], saying: "17 terms"),
        BrokenStore(
            .longListsHeedCase, breaks: "Ids in a list match by the rule of ids, however long it is",
            foundBy: ["FIL-150"], saying: "ITEM-a"),
        BrokenStore(
            .longTextsSearchedInPart, breaks: "A text is searched to its end",
            foundBy: ["FIL-151"], saying: "contains"),
        BrokenStore(
            .rollbackForgetsEleventhTable, breaks: "A rollback takes back the changes of all tables",
            foundBy: ["TRN-065"], saying: "11 tables"),
        BrokenStore(
            .eleventhTableNotCommitted, breaks: "A transaction commits the changes of all tables",
            foundBy: ["TRN-066"], saying: "Table 10"),
        BrokenStore(
            .changesCutAtThousand, breaks: "A transaction keeps as many changes as are made in it",
            foundBy: ["TRN-067"], saying: "1001"),
        BrokenStore(
            .manyIDsHeedCase, breaks: "Ids match by the rule of ids, however many are deleted",
            foundBy: ["GET-038"], saying: "17 ids"),
        BrokenStore(
            .deletionCutAtThousand, breaks: "A deletion deletes all rows of its window",
            foundBy: ["GET-039"], saying: "1001"),
        BrokenStore(
            .columnsBeyondSixtyFourNotMerged, breaks: "A merge takes every column that it names",
            foundBy: ["UPS-051"], saying: "257 columns"),
        BrokenStore(
            .duplicatesInLongBatchKeepFirst, breaks: "Of two rows of one batch with the same id the last counts",
            foundBy: ["UPS-052"], saying: "last"),
        BrokenStore(
            .indexesBeyondEightNotKept, breaks: "Every index follows a merge",
            foundBy: ["TAB-203"], saying: "17 indexes"),
        BrokenStore(
            .queriesKeptForever, breaks: "A query takes no memory once it is answered",
            foundBy: ["SCA-018"], saying: "memory"),
        BrokenStore(
            .repeatedAnswersKept, breaks: "A query finds what is there when it is asked",
            foundBy: ["SCA-019"], saying: "run 17"),
        BrokenStore(
            .timeLimitKept, breaks: "A limit on the time of queries ends with its reader",
            foundBy: ["SCA-020"], saying: "time limit"),
        BrokenStore(
            .timeLimitPerQuery, breaks: "A limit on time applies to all queries of its reader together",
            foundBy: ["SCA-032"], saying: "limit"),
        BrokenStore(
            .longOrdersForgotten, breaks: "An order applies to any number of rows",
            foundBy: ["SCA-022"], saying: "12000 rows", rows: 12_000),
        BrokenStore(
            .orderedDeletionCut, breaks: "A deletion with an order deletes all rows of its window",
            foundBy: ["SCA-023"], saying: "12000 rows", rows: 12_000),
        BrokenStore(
            .longScanSeesChanges, breaks: "A scan in a write gives the rows there were when it began",
            foundBy: ["SCA-026"], saying: "6000 rows", rows: 6_000),
        BrokenStore(
            .longDefinitionInParts, breaks: "A definition is applied completely or not at all",
            foundBy: ["DUR-111"], saying: "definitions", rows: 44_000),
        BrokenStore(
            .busyAfterManyFailures, breaks: "A failure leaves the store usable, however many there were",
            foundBy: ["SCA-031", "LNG-005"], saying: "failures", rows: 5_000),
    ]
}
