extension BrokenStore {
    /// Flaws in storing values and ids.
    static let values: [BrokenStore] = [
        BrokenStore(
            .integersThroughDouble, breaks: "Integers beyond 2^53 are stored exactly",
            foundBy: ["VAL-011"], saying: "int"),
        BrokenStore(
            .instantsCutToMilliseconds, breaks: "Instants are stored to 100 ns",
            foundBy: ["VAL-021"], saying: "100 ns"),
        BrokenStore(
            .emptyTextIsNull, breaks: "An empty text is not null",
            foundBy: ["VAL-023"], saying: "empty"),
        BrokenStore(
            .emptyBytesAreNull, breaks: "Empty bytes are not null",
            foundBy: ["VAL-023"], saying: "empty"),
        BrokenStore(
            .jsonTidied, breaks: "JSON is stored byte for byte",
            foundBy: ["VAL-007"], saying: "JSON"),
        BrokenStore(
            .boolsAsIntegers, breaks: "A bool stays a bool",
            foundBy: ["VAL-001"], saying: "bool"),
        BrokenStore(
            .negativeZeroLost, breaks: "-0.0 keeps its sign",
            foundBy: ["VAL-015"], saying: "0.0"),
        BrokenStore(
            .textEndsAtNUL, breaks: "A text may hold NUL",
            foundBy: ["VAL-024"], saying: "NUL"),
        BrokenStore(
            .textNormalised, breaks: "Text is not normalised",
            foundBy: ["VAL-025"], saying: "text"),
        BrokenStore(
            .nanStoredAsNull, breaks: "NaN is kept, or refused",
            foundBy: ["VAL-017"], saying: "NaN"),
        BrokenStore(
            .spacesTrimmed, breaks: "Spaces around a text are kept",
            foundBy: ["VAL-026"], saying: "text"),
        BrokenStore(
            .longTextCut, breaks: "A text of 1 MB is stored whole",
            foundBy: ["VAL-033"], saying: "MB"),
        BrokenStore(
            .longBytesCut, breaks: "Bytes of 4 MB are stored whole",
            foundBy: ["VAL-034", "LNG-004"], saying: "bytes"),
        BrokenStore(
            .lineEndsChanged, breaks: "Line ends are kept",
            foundBy: ["VAL-004"], saying: "byte for byte"),
        BrokenStore(
            .doublesThroughText, breaks: "Every double is stored to the bit",
            foundBy: ["VAL-014"], saying: "double"),
        BrokenStore(
            .wholeDoublesAsIntegers, breaks: "A whole double stays a double",
            foundBy: ["VAL-016"], saying: "double"),
        BrokenStore(
            .idCutAtSixtyFour, breaks: "Ids of 255 characters are kept apart to the last",
            foundBy: ["VAL-039"], saying: "maximum length"),
        BrokenStore(
            .idEndsAtNUL, breaks: "An id does not end at NUL",
            foundBy: ["VAL-037"], saying: "NUL"),
        BrokenStore(
            .idNormalised, breaks: "Ids are not normalised",
            foundBy: ["VAL-038"], saying: "id"),
        BrokenStore(
            .idFoldedByUnicode, breaks: "Only ASCII letters of ids compare without regard to case",
            foundBy: ["VAL-048"], saying: "case"),
        BrokenStore(
            .exactIDsIgnoreCase, breaks: "Ids of a table with exact matching differ in case",
            foundBy: ["VAL-049"], saying: "exact"),
        BrokenStore(
            .tableNameIsAPrefix, breaks: "A table has no row of another whose name begins alike",
            foundBy: ["VAL-041"], saying: "another table"),
    ]
}
