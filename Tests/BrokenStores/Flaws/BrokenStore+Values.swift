extension BrokenStore {
    /// Flaws in inserting and merging.
    static let upsert: [BrokenStore] = [
        .init(.lastRowOfBatchDropped, "Every row of a batch is stored", "UPS-018", saying: "row"),
        .init(.batchCutAtThousand, "A batch has no greatest number of rows", "UPS-019", saying: "rows"),
        .init(.mergeReplaces, "A column that a merge does not name keeps its value", "UPS-002", saying: "merge"),
        .init(.explicitNullIgnored, "Null in a merge clears the column", "UPS-003", saying: "null"),
        .init(
            .deletedRowComesBack, "A row that is deleted and inserted again has only its new values", "GET-019",
            saying: "again"),
        .init(
            .firstOfTwoCounts, "Of two rows of one batch with the same id the last counts", "UPS-014", saying: "last"),
        .init(.columnsOfFirstRow, "Rows of one batch may name different columns", "UPS-013", saying: "columns"),
        .init(
            .batchColumnsByPosition, "A batch made for another definition is taken by the names of its columns",
            "UPS-024", saying: "columns"),
        .init(
            .requiredColumnNotChecked, "A column that is not optional must be there and not null", "UPS-032",
            saying: "invalidValue"),
        .init(
            .requiredColumnAskedOfMerges, "A merge need not name the columns that are required", "UPS-034",
            saying: "merge"),
        .init(.unknownColumnDropped, "A column that the table does not define is refused", "UPS-029", saying: "column"),
        .init(.typeNotChecked, "A value of another type than its column is refused", "UPS-030", saying: "type"),
        .init(.emptyIDAccepted, "An empty id is refused", "UPS-035", saying: "empty"),
        .init(.tooLongIDAccepted, "An id longer than the store takes is refused", "VAL-040", saying: "long"),
        .init(.errorWithoutNames, "An error names table, column and id", "TAB-081", saying: "name"),
        .init(.errorWithAnotherCode, "An error has the code that says what to do", "UPS-029", saying: "invalidValue"),
        .init(.spellingReplaced, "An id keeps the spelling stored first", "VAL-043", saying: "stored first"),
        .init(.emptyBatchFails, "An empty batch is nothing", "UPS-016", saying: "empty"),
        .init(.systemColumnsStamped, "The system columns are stored as they are given", "UPS-011", saying: "updatedAt"),
        .init(.versionNotStored, "The version is stored like any column", "UPS-011", saying: "version"),
        .init(
            .failedTransactionCommitted, "A transaction in which an upsert failed cannot be committed", "UPS-038",
            saying: "the write throws"),
        .init(.lockKeptAfterFailure, "After a failure the store works on", "TRN-054", saying: "body"),
        .init(
            .lockHeldForever, "After a failure the store works on, and does not wait for itself", "TRN-054",
            saying: "hangs"),
        .init(.rowWithoutColumnsNotStored, "A row that names no column is stored", "UPS-005", saying: "id"),
        .init(.negativeIDsRefused, "An integer id may be any 64-bit integer", "SYN-003", saying: "id"),
        .init(
            .requiredNullInMergeAccepted, "A merge may not clear a column that is required", "UPS-033", saying: "null"),
    ]

    /// Flaws in storing values and ids.
    static let values: [BrokenStore] = [
        .init(.integersThroughDouble, "Integers beyond 2^53 are stored exactly", "VAL-011", saying: "int"),
        .init(.instantsCutToMilliseconds, "Instants are stored to 100 ns", "VAL-021", saying: "100 ns"),
        .init(.emptyTextIsNull, "An empty text is not null", "VAL-023", saying: "empty"),
        .init(.emptyBytesAreNull, "Empty bytes are not null", "VAL-023", saying: "empty"),
        .init(.jsonTidied, "JSON is stored byte for byte", "VAL-007", saying: "JSON"),
        .init(.boolsAsIntegers, "A bool stays a bool", "VAL-001", saying: "bool"),
        .init(.negativeZeroLost, "-0.0 keeps its sign", "VAL-015", saying: "0.0"),
        .init(.textEndsAtNUL, "A text may hold NUL", "VAL-024", saying: "NUL"),
        .init(.textNormalised, "Text is not normalised", "VAL-025", saying: "text"),
        .init(.nanStoredAsNull, "NaN is kept, or refused", "VAL-017", saying: "NaN"),
        .init(.spacesTrimmed, "Spaces around a text are kept", "VAL-026", saying: "text"),
        .init(.longTextCut, "A text of 1 MB is stored whole", "VAL-033", saying: "MB"),
        .init(.longBytesCut, "Bytes of 4 MB are stored whole", "VAL-034", "LNG-004", saying: "bytes"),
        .init(.lineEndsChanged, "Line ends are kept", "VAL-004", saying: "byte for byte"),
        .init(.doublesThroughText, "Every double is stored to the bit", "VAL-014", saying: "double"),
        .init(.wholeDoublesAsIntegers, "A whole double stays a double", "VAL-016", saying: "double"),
        .init(
            .idCutAtSixtyFour, "Ids of 255 characters are kept apart to the last", "VAL-039", saying: "maximum length"),
        .init(.idEndsAtNUL, "An id does not end at NUL", "VAL-037", saying: "NUL"),
        .init(.idNormalised, "Ids are not normalised", "VAL-038", saying: "id"),
        .init(
            .idFoldedByUnicode, "Only ASCII letters of ids compare without regard to case", "VAL-048", saying: "case"),
        .init(.exactIDsIgnoreCase, "Ids of a table with exact matching differ in case", "VAL-049", saying: "exact"),
        .init(
            .tableNameIsAPrefix, "A table has no row of another whose name begins alike", "VAL-041",
            saying: "another table"),
    ]
}
