extension BrokenStore {
    /// Flaws that only affect large amounts.
    static let amounts: [BrokenStore] = [
        .init(.longOrdersUnstable, "Any number of rows equal in all terms come by id", "ORD-075", saying: "5000 rows"),
        .init(.orderTermsCutAtEight, "An order has as many terms as it is given", "ORD-076", saying: "17 terms"),
        .init(.longListsHeedCase, "Ids in a list of any length match by the rule of ids", "FIL-150", saying: "ITEM-a"),
        .init(.longTextsSearchedInPart, "A text is searched to its end", "FIL-151", saying: "contains"),
        .init(.rollbackForgetsEleventhTable, "A rollback takes all changes back", "TRN-065", saying: "11 tables"),
        .init(.eleventhTableNotCommitted, "A commit has the changes of all tables", "TRN-066", saying: "Table 10"),
        .init(.changesCutAtThousand, "A transaction keeps all changes that are made in it", "TRN-067", saying: "1001"),
        .init(.manyIDsHeedCase, "Ids match by the rule of ids, however many are deleted", "GET-038", saying: "17 ids"),
        .init(.deletionCutAtThousand, "A deletion deletes all rows of its window", "GET-039", saying: "1001"),
        .init(.columnsBeyondSixtyFourNotMerged, "A merge stores all its columns", "UPS-051", saying: "257 columns"),
        .init(.duplicatesInLongBatchKeepFirst, "The last of two rows with one id counts", "UPS-052", saying: "last"),
        .init(.indexesBeyondEightNotKept, "Every index follows a merge", "TAB-203", saying: "17 indexes"),
        .init(.queriesKeptForever, "A query takes no memory once it is answered", "SCA-018", saying: "memory"),
        .init(.repeatedAnswersKept, "A query finds what is there when it is asked", "SCA-019", saying: "run 17"),
        .init(.timeLimitKept, "A limit on the time of queries ends with its reader", "SCA-020", saying: "time limit"),
        .init(.timeLimitPerQuery, "The queries of a reader share a limit on time", "SCA-032", saying: "limit"),
        .init(.timeLimitIgnored, "A declared time limit ends queries", "SCA-032", saying: "but nothing was thrown"),
        .init(.scanCopiesRows, "A stopped scan holds only returned rows", "SCA-009", saying: "memory", rows: 100_000),
        .init(.replacedRowsKept, "Replaced space is reused", "SCA-010", saying: "replacing the texts", rows: 100_000),
        .init(.longOrdersForgotten, "An order applies to all rows", "SCA-022", saying: "12000 rows", rows: 12_000),
        .init(.orderedDeletionCut, "An ordered deletion is complete", "SCA-023", saying: "12000 rows", rows: 12_000),
        .init(.longScanSeesChanges, "A scan in a write is a snapshot", "SCA-026", saying: "6000 rows", rows: 6_000),
        .init(.longDefinitionInParts, "A definition is all or nothing", "DUR-111", saying: "definitions", rows: 44_000),
        .init(.busyAfterManyFailures, "Stores survive failures", "SCA-031", "LNG-005", saying: "failures", rows: 5_000),
    ]

    /// Flaws that show only after long times or very many operations.
    static let long: [BrokenStore] = [
        .init(.waitingWriterGivesUp, "Writers wait as long as others take", "LNG-020", saying: "busy", rows: 50_000),
        .init(.closeGivesUp, "close waits for work that takes long", "LNG-021", saying: "long read", rows: 50_000),
        .init(.idleStoreCloses, "A store that was idle answers", "LIF-089", saying: "idle"),
        .init(.commitsKept, "A commit takes no memory after it ends", "LNG-001", saying: "memory", rows: 2_000),
        .init(.tablesLimited, "A store holds any number of tables", "LNG-002", saying: "tables", rows: 10_000),
        .init(.indexChangesLimited, "An index may change many times", "LNG-008", saying: "definitions", rows: 10_000),
        .init(.descriptorLeaked, "close gives back every descriptor", "LNG-007", saying: "descriptors", rows: 2_000),
    ]
}
