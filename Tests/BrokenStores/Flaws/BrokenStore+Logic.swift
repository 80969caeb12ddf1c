extension BrokenStore {
    /// Flaws in logic and in the validation of conditions.
    static let logic: [BrokenStore] = [
        BrokenStore(
            .emptyOrIsTrue, breaks: "An or of no conditions is false",
            foundBy: ["FIL-042"], saying: "or"),
        BrokenStore(
            .emptyAndIsFalse, breaks: "An and of no conditions is true",
            foundBy: ["FIL-042"], saying: "and"),
        BrokenStore(
            .queryNotValidated, breaks: "A query that contradicts its table is refused",
            foundBy: ["FIL-134"], saying: "unsupportedQuery"),
        BrokenStore(
            .otherTypesFindNothing, breaks: "A column is not compared with a value of another type",
            foundBy: ["FIL-013"], saying: "invalidValue"),
        BrokenStore(
            .termsCutAtHundred, breaks: "A condition has no greatest number of terms",
            foundBy: ["FIL-038", "LNG-003"], saying: "000", rows: 20_000),
        BrokenStore(
            .bytesComparedByLength, breaks: "Bytes compare byte by byte, a prefix first",
            foundBy: ["FIL-058"], saying: "byte"),
        BrokenStore(
            .nullEqualsNothing, breaks: "Null equals null",
            foundBy: ["FIL-027"], saying: "null"),
        BrokenStore(
            .notInWithNullFindsNone, breaks: "not in a list with null is two-valued",
            foundBy: ["FIL-031"], saying: "null"),
        BrokenStore(
            .notInLeavesOutNull, breaks: "Null is not in a list without null",
            foundBy: ["FIL-031"], saying: "null"),
        BrokenStore(
            .nullsCompareAsEqual, breaks: "<= and >= are false of nulls",
            foundBy: ["FIL-026"], saying: "null"),
        BrokenStore(
            .nanIsGreatest, breaks: "NaN is greater than nothing",
            foundBy: ["FIL-075"], saying: "NaN"),
        BrokenStore(
            .emptyTextNotContained, breaks: "Every text contains the empty text",
            foundBy: ["FIL-086"], saying: "empty"),
        BrokenStore(
            .trimsUnicodeSpaces, breaks: "trim takes ASCII white space only",
            foundBy: ["FIL-100"], saying: "trim"),
        BrokenStore(
            .divisionRoundsDown, breaks: "Division of negative integers truncates",
            foundBy: ["FIL-106"], saying: "div"),
        BrokenStore(
            .halvesRoundUp, breaks: "Negative halves are rounded away from zero",
            foundBy: ["FIL-113"], saying: "round"),
        BrokenStore(
            .floorCutsTowardZero, breaks: "floor is the greatest whole number not above",
            foundBy: ["FIL-114"], saying: "floor"),
        BrokenStore(
            .textComparedInUTF16, breaks: "Texts compare by UTF-8 bytes",
            foundBy: ["FIL-061"], saying: "U+FFFF"),
        BrokenStore(
            .bytesComparedSigned, breaks: "Bytes are unsigned",
            foundBy: ["FIL-066"], saying: "byte"),
        BrokenStore(
            .columnsNotCompared, breaks: "A column compares with a column",
            foundBy: ["FIL-045"], saying: "column"),
        BrokenStore(
            .boolColumnIsNoCondition, breaks: "A bool column is a condition",
            foundBy: ["FIL-025"], saying: "bool"),
        BrokenStore(
            .literalOnTheLeftMisread, breaks: "A literal may be on the left",
            foundBy: ["FIL-012"], saying: "left"),
        BrokenStore(
            .deepConditionsRefused, breaks: "A condition may be 500 deep",
            foundBy: ["FIL-049"], saying: "deep"),
        BrokenStore(
            .suffixFoundAtFirstOnly, breaks: "endsWith looks at the end, whatever comes before",
            foundBy: ["FIL-077"], saying: "endsWith"),
        BrokenStore(
            .indexOfMissingIsNull, breaks: "indexOf of what is not there is -1",
            foundBy: ["FIL-095"], saying: "-1"),
        BrokenStore(
            .nullConcatenatedAsEmpty, breaks: "concat with null is null",
            foundBy: ["FIL-101"], saying: "null"),
        BrokenStore(
            .monthFromZero, breaks: "Months count from 1",
            foundBy: ["FIL-117"], saying: "month"),
        BrokenStore(
            .integersAddedAsDoubles, breaks: "Integers are added exactly",
            foundBy: ["FIL-109"], saying: "64 bits"),
    ]
}
