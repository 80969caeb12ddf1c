extension BrokenStore {
    /// Flaws in comparisons.
    static let conditions: [BrokenStore] = [
        .init(.wildcardsNotEscaped, "% and _ are plain characters", "FIL-078", saying: "%"),
        .init(.containsIgnoresCase, "contains compares byte for byte", "FIL-085", saying: "case"),
        .init(.emptyListMatchesAll, "Nothing is in an empty list", "FIL-029", saying: "empty list"),
        .init(.notEqualLeavesOutNull, "Null is not equal to a value", "FIL-075", saying: "null"),
        .init(.notOfNullIsFalse, "not of a condition without a value is true", "FIL-090", saying: "null"),
        .init(.nullInListNeverFound, "Null is in a list with null", "FIL-031", saying: "null"),
        .init(.nullIsLessThanAll, "Null is less than nothing", "FIL-075", saying: "null"),
        .init(.nanEqualsItself, "NaN equals nothing, not even itself", "FIL-075", saying: "NaN"),
        .init(.negativeZeroDiffers, "-0.0 equals 0.0", "FIL-072", saying: "0.0"),
        .init(.integersComparedAsDoubles, "Integers beyond 2^53 compare exactly", "FIL-069", saying: "2^53"),
        .init(.instantsComparedByMillisecond, "Instants compare to 100 ns", "FIL-057", saying: "100 ns"),
    ]

    /// Flaws in functions and arithmetic.
    static let functions: [BrokenStore] = [
        .init(
            .caseFoldedByLocale, "lower and upper do not depend on the locale of the process", "FIL-152",
            saying: "locale"),
        .init(
            .caseFoldedByUnicode, "lower, upper and equalsIgnoringCase fold ASCII letters only", "FIL-099",
            saying: "ASCII"),
        .init(.lengthInUTF16, "length counts Unicode scalars", "FIL-094", saying: "length"),
        .init(.lengthInCharacters, "length counts Unicode scalars", "FIL-094", saying: "length"),
        .init(.substringFromOne, "substring counts from 0", "FIL-096", saying: "substring"),
        .init(.negativeStartCountsFromEnd, "A negative start of substring counts as 0", "FIL-097", saying: "substring"),
        .init(.indexOfInBytes, "indexOf counts Unicode scalars", "FIL-095", saying: "index"),
        .init(.replacesFirstOnly, "replace replaces every occurrence", "FIL-102", saying: "replac"),
        .init(.trimsSpacesOnly, "trim takes all ASCII white space", "FIL-100", saying: "trim"),
        .init(.textNormalisedInComparison, "Texts compare by bytes, without normalisation", "FIL-016", saying: "text"),
        .init(.hoursInLocalTime, "The parts of an instant are in UTC", "FIL-119", saying: "hour"),
        .init(
            .datePartsInLocalTime, "The parts of an instant are in UTC, whatever the process' time zone", "FIL-149",
            saying: "TZ"),
        .init(.secondsRounded, "second is the whole second", "FIL-120", saying: "second"),
        .init(.beforeEpochTruncated, "The parts of an instant before 1970 are right", "FIL-120", saying: "1970"),
        .init(.integersDivideToDouble, "Division of integers truncates", "FIL-106", saying: "div"),
        .init(.remainderNeverNegative, "% has the dividend's sign", "FIL-107", saying: "sign"),
        .init(.divisionByZeroIsInfinite, "Division by zero is null", "FIL-108", saying: "zero"),
        .init(.overflowWraps, "A result beyond 64 bits becomes a double", "FIL-109", saying: "64 bits"),
        .init(.halvesRoundToEven, "Halves are rounded away from zero", "FIL-113", saying: "round"),
    ]

    /// Flaws in logic and in the validation of conditions.
    static let logic: [BrokenStore] = [
        .init(.emptyOrIsTrue, "An or of no conditions is false", "FIL-042", saying: "or"),
        .init(.emptyAndIsFalse, "An and of no conditions is true", "FIL-042", saying: "and"),
        .init(
            .queryNotValidated, "A query that contradicts its table is refused", "FIL-134", saying: "unsupportedQuery"),
        .init(
            .otherTypesFindNothing, "A column is not compared with a value of another type", "FIL-013",
            saying: "invalidValue"),
        .init(
            .termsCutAtHundred, "A condition has no greatest number of terms", "FIL-038", "LNG-003", saying: "000",
            rows: 20_000),
        .init(.bytesComparedByLength, "Bytes compare byte by byte, a prefix first", "FIL-058", saying: "byte"),
        .init(.nullEqualsNothing, "Null equals null", "FIL-027", saying: "null"),
        .init(.notInWithNullFindsNone, "not in a list with null is two-valued", "FIL-031", saying: "null"),
        .init(.notInLeavesOutNull, "Null is not in a list without null", "FIL-031", saying: "null"),
        .init(.nullsCompareAsEqual, "<= and >= are false of nulls", "FIL-026", saying: "null"),
        .init(.nanIsGreatest, "NaN is greater than nothing", "FIL-075", saying: "NaN"),
        .init(.emptyTextNotContained, "Every text contains the empty text", "FIL-086", saying: "empty"),
        .init(.trimsUnicodeSpaces, "trim takes ASCII white space only", "FIL-100", saying: "trim"),
        .init(.divisionRoundsDown, "Division of negative integers truncates", "FIL-106", saying: "div"),
        .init(.halvesRoundUp, "Negative halves are rounded away from zero", "FIL-113", saying: "round"),
        .init(.floorCutsTowardZero, "floor is the greatest whole number not above", "FIL-114", saying: "floor"),
        .init(.textComparedInUTF16, "Texts compare by UTF-8 bytes", "FIL-061", saying: "U+FFFF"),
        .init(.bytesComparedSigned, "Bytes are unsigned", "FIL-066", saying: "byte"),
        .init(.columnsNotCompared, "A column compares with a column", "FIL-045", saying: "column"),
        .init(.boolColumnIsNoCondition, "A bool column is a condition", "FIL-025", saying: "bool"),
        .init(.literalOnTheLeftMisread, "A literal may be on the left", "FIL-012", saying: "left"),
        .init(.deepConditionsRefused, "A condition may be 500 deep", "FIL-049", saying: "deep"),
        .init(
            .suffixFoundAtFirstOnly, "endsWith looks at the end, whatever comes before", "FIL-077", saying: "endsWith"),
        .init(.indexOfMissingIsNull, "indexOf of what is not there is -1", "FIL-095", saying: "-1"),
        .init(.nullConcatenatedAsEmpty, "concat with null is null", "FIL-101", saying: "null"),
        .init(.monthFromZero, "Months count from 1", "FIL-117", saying: "month"),
        .init(.integersAddedAsDoubles, "Integers are added exactly", "FIL-109", saying: "64 bits"),
    ]
}
