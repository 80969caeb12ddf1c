extension BrokenStore {
    /// Flaws in inserting and merging.
    static let upsert: [BrokenStore] = [
        .init(.lastRowOfBatchDropped, "Every row of a batch is stored", foundBy: "UPS-018", saying: "row"),
        .init(.batchCutAtThousand, "A batch has no greatest number of rows", foundBy: "UPS-019", saying: "rows"),
        .init(
            .mergeReplaces, "A column that a merge does not name keeps its value", foundBy: "UPS-002", saying: "merge"),
        .init(.explicitNullIgnored, "Null in a merge clears the column", foundBy: "UPS-003", saying: "null"),
        .init(
            .deletedRowComesBack, "A row that is deleted and inserted again has only its new values",
            foundBy: "GET-019", saying: "again"),
        .init(
            .firstOfTwoCounts, "Of two rows of one batch with the same id the last counts",
            foundBy: "UPS-014", saying: "last"),
        .init(
            .columnsOfFirstRow, "Rows of one batch may name different columns", foundBy: "UPS-013", saying: "columns"),
        .init(
            .batchColumnsByPosition, "A batch made for another definition is taken by the names of its columns",
            foundBy: "UPS-024", saying: "columns"),
        .init(
            .requiredColumnNotChecked, "A column that is not optional must be there and not null",
            foundBy: "UPS-032", saying: "invalidValue"),
        .init(
            .requiredColumnAskedOfMerges, "A merge need not name the columns that are required",
            foundBy: "UPS-034", saying: "merge"),
        .init(
            .unknownColumnDropped, "A column that the table does not define is refused",
            foundBy: "UPS-029", saying: "column"),
        .init(
            .typeNotChecked, "A value of another type than its column is refused", foundBy: "UPS-030", saying: "type"),
        .init(.emptyIDAccepted, "An empty id is refused", foundBy: "UPS-035", saying: "empty"),
        .init(.tooLongIDAccepted, "An id longer than the store takes is refused", foundBy: "VAL-040", saying: "long"),
        .init(.errorWithoutNames, "An error names table, column and id", foundBy: "TAB-081", saying: "name"),
        .init(
            .errorWithAnotherCode, "An error has the code that says what to do",
            foundBy: "UPS-029", saying: "invalidValue"),
        .init(.spellingReplaced, "An id keeps the spelling stored first", foundBy: "VAL-043", saying: "stored first"),
        .init(.emptyBatchFails, "An empty batch is nothing", foundBy: "UPS-016", saying: "empty"),
        .init(
            .systemColumnsStamped, "The system columns are stored as they are given",
            foundBy: "UPS-011", saying: "updatedAt"),
        .init(.versionNotStored, "The version is stored like any column", foundBy: "UPS-011", saying: "version"),
        .init(
            .failedTransactionCommitted, "A transaction in which an upsert failed cannot be committed",
            foundBy: "UPS-038", saying: "the write throws"),
        .init(.lockKeptAfterFailure, "After a failure the store works on", foundBy: "TRN-054", saying: "body"),
        .init(
            .lockHeldForever, "After a failure the store works on, and does not wait for itself",
            foundBy: "TRN-054", saying: "hangs"),
        .init(.rowWithoutColumnsNotStored, "A row that names no column is stored", foundBy: "UPS-005", saying: "id"),
        .init(.negativeIDsRefused, "An integer id may be any 64-bit integer", foundBy: "SYN-003", saying: "id"),
        .init(
            .requiredNullInMergeAccepted, "A merge may not clear a column that is required",
            foundBy: "UPS-033", saying: "null"),
    ]

    /// Flaws in storing values and ids.
    static let values: [BrokenStore] = [
        .init(.integersThroughDouble, "Integers beyond 2^53 are stored exactly", foundBy: "VAL-011", saying: "int"),
        .init(.instantsCutToMilliseconds, "Instants are stored to 100 ns", foundBy: "VAL-021", saying: "100 ns"),
        .init(.emptyTextIsNull, "An empty text is not null", foundBy: "VAL-023", saying: "empty"),
        .init(.emptyBytesAreNull, "Empty bytes are not null", foundBy: "VAL-023", saying: "empty"),
        .init(.jsonTidied, "JSON is stored byte for byte", foundBy: "VAL-007", saying: "JSON"),
        .init(.boolsAsIntegers, "A bool stays a bool", foundBy: "VAL-001", saying: "bool"),
        .init(.negativeZeroLost, "-0.0 keeps its sign", foundBy: "VAL-015", saying: "0.0"),
        .init(.textEndsAtNUL, "A text may hold NUL", foundBy: "VAL-024", saying: "NUL"),
        .init(.textNormalised, "Text is not normalised", foundBy: "VAL-025", saying: "text"),
        .init(.nanStoredAsNull, "NaN is kept, or refused", foundBy: "VAL-017", saying: "NaN"),
        .init(.spacesTrimmed, "Spaces around a text are kept", foundBy: "VAL-026", saying: "text"),
        .init(.longTextCut, "A text of 1 MB is stored whole", foundBy: "VAL-033", saying: "MB"),
        .init(.longBytesCut, "Bytes of 4 MB are stored whole", foundBy: "VAL-034", "LNG-004", saying: "bytes"),
        .init(.lineEndsChanged, "Line ends are kept", foundBy: "VAL-004", saying: "byte for byte"),
        .init(.doublesThroughText, "Every double is stored to the bit", foundBy: "VAL-014", saying: "double"),
        .init(.wholeDoublesAsIntegers, "A whole double stays a double", foundBy: "VAL-016", saying: "double"),
        .init(
            .idCutAtSixtyFour, "Ids of 255 characters are kept apart to the last",
            foundBy: "VAL-039", saying: "maximum length"),
        .init(.idEndsAtNUL, "An id does not end at NUL", foundBy: "VAL-037", saying: "NUL"),
        .init(.idNormalised, "Ids are not normalised", foundBy: "VAL-038", saying: "id"),
        .init(
            .idFoldedByUnicode, "Only ASCII letters of ids compare without regard to case",
            foundBy: "VAL-048", saying: "case"),
        .init(
            .exactIDsIgnoreCase, "Ids of a table with exact matching differ in case",
            foundBy: "VAL-049", saying: "exact"),
        .init(
            .tableNameIsAPrefix, "A table has no row of another whose name begins alike",
            foundBy: "VAL-041", saying: "another table"),
    ]
}
