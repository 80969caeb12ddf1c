extension BrokenStore {
    /// Flaws in inserting and merging.
    static let upsert: [BrokenStore] = [
        BrokenStore(
            .lastRowOfBatchDropped, breaks: "Every row of a batch is stored",
            foundBy: ["UPS-018"], saying: "row"),
        BrokenStore(
            .batchCutAtThousand, breaks: "A batch has no greatest number of rows",
            foundBy: ["UPS-019"], saying: "rows"),
        BrokenStore(
            .mergeReplaces, breaks: "A column that a merge does not name keeps its value",
            foundBy: ["UPS-002"], saying: "merge"),
        BrokenStore(
            .explicitNullIgnored, breaks: "Null in a merge clears the column",
            foundBy: ["UPS-003"], saying: "null"),
        BrokenStore(
            .deletedRowComesBack, breaks: "A row that is deleted and inserted again has only its new values",
            foundBy: ["GET-019"], saying: "again"),
        BrokenStore(
            .firstOfTwoCounts, breaks: "Of two rows of one batch with the same id the last counts",
            foundBy: ["UPS-014"], saying: "last"),
        BrokenStore(
            .columnsOfFirstRow, breaks: "Rows of one batch may name different columns",
            foundBy: ["UPS-013"], saying: "columns"),
        BrokenStore(
            .batchColumnsByPosition, breaks: "A batch made for another definition is taken by the names of its columns",
            foundBy: ["UPS-024"], saying: "columns"),
        BrokenStore(
            .requiredColumnNotChecked, breaks: "A column that is not optional must be there and not null",
            foundBy: ["UPS-032"], saying: "invalidValue"),
        BrokenStore(
            .requiredColumnAskedOfMerges, breaks: "A merge need not name the columns that are required",
            foundBy: ["UPS-034"], saying: "merge"),
        BrokenStore(
            .unknownColumnDropped, breaks: "A column that the table does not define is refused",
            foundBy: ["UPS-029"], saying: "column"),
        BrokenStore(
            .typeNotChecked, breaks: "A value of another type than its column is refused",
            foundBy: ["UPS-030"], saying: "type"),
        BrokenStore(
            .emptyIDAccepted, breaks: "An empty id is refused",
            foundBy: ["UPS-035"], saying: "empty"),
        BrokenStore(
            .tooLongIDAccepted, breaks: "An id longer than the store takes is refused",
            foundBy: ["VAL-040"], saying: "long"),
        BrokenStore(
            .errorWithoutNames, breaks: "An error names table, column and id",
            foundBy: ["TAB-081"], saying: "name"),
        BrokenStore(
            .errorWithAnotherCode, breaks: "An error has the code that says what to do",
            foundBy: ["UPS-029"], saying: "invalidValue"),
        BrokenStore(
            .spellingReplaced, breaks: "An id keeps the spelling stored first",
            foundBy: ["VAL-043"], saying: "stored first"),
        BrokenStore(
            .emptyBatchFails, breaks: "An empty batch is nothing",
            foundBy: ["UPS-016"], saying: "empty"),
        BrokenStore(
            .systemColumnsStamped, breaks: "The system columns are stored as they are given",
            foundBy: ["UPS-011"], saying: "updatedAt"),
        BrokenStore(
            .versionNotStored, breaks: "The version is stored like any column",
            foundBy: ["UPS-011"], saying: "version"),
        BrokenStore(
            .failedTransactionCommitted, breaks: "A transaction in which an upsert failed cannot be committed",
            foundBy: ["UPS-038"], saying: "the write throws"),
        BrokenStore(
            .lockKeptAfterFailure, breaks: "After a failure the store works on",
            foundBy: ["TRN-054"], saying: "body"),
        BrokenStore(
            .lockHeldForever, breaks: "After a failure the store works on, and does not wait for itself",
            foundBy: ["TRN-054"], saying: "hangs"),
        BrokenStore(
            .rowWithoutColumnsNotStored, breaks: "A row that names no column is stored",
            foundBy: ["UPS-005"], saying: "id"),
        BrokenStore(
            .negativeIDsRefused, breaks: "An integer id may be any 64-bit integer",
            foundBy: ["SYN-003"], saying: "id"),
        BrokenStore(
            .requiredNullInMergeAccepted, breaks: "A merge may not clear a column that is required",
            foundBy: ["UPS-033"], saying: "null"),
    ]
}
