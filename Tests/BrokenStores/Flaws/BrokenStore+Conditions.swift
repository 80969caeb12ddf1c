extension BrokenStore {
    /// Flaws in comparisons.
    static let conditions: [BrokenStore] = [
        BrokenStore(
            .wildcardsNotEscaped, breaks: "% and _ are plain characters",
            foundBy: ["FIL-078"], saying: "%"),
        BrokenStore(
            .containsIgnoresCase, breaks: "contains compares byte for byte",
            foundBy: ["FIL-085"], saying: "case"),
        BrokenStore(
            .emptyListMatchesAll, breaks: "Nothing is in an empty list",
            foundBy: ["FIL-029"], saying: "empty list"),
        BrokenStore(
            .notEqualLeavesOutNull, breaks: "Null is not equal to a value",
            foundBy: ["FIL-075"], saying: "null"),
        BrokenStore(
            .notOfNullIsFalse, breaks: "not of a condition without a value is true",
            foundBy: ["FIL-090"], saying: "null"),
        BrokenStore(
            .nullInListNeverFound, breaks: "Null is in a list with null",
            foundBy: ["FIL-031"], saying: "null"),
        BrokenStore(
            .nullIsLessThanAll, breaks: "Null is less than nothing",
            foundBy: ["FIL-075"], saying: "null"),
        BrokenStore(
            .nanEqualsItself, breaks: "NaN equals nothing, not even itself",
            foundBy: ["FIL-075"], saying: "NaN"),
        BrokenStore(
            .negativeZeroDiffers, breaks: "-0.0 equals 0.0",
            foundBy: ["FIL-072"], saying: "0.0"),
        BrokenStore(
            .integersComparedAsDoubles, breaks: "Integers beyond 2^53 compare exactly",
            foundBy: ["FIL-069"], saying: "2^53"),
        BrokenStore(
            .instantsComparedByMillisecond, breaks: "Instants compare to 100 ns",
            foundBy: ["FIL-057"], saying: "100 ns"),
    ]
}
