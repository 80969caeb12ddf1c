extension BrokenStore {
    /// Flaws in functions and arithmetic.
    static let functions: [BrokenStore] = [
        BrokenStore(
            .caseFoldedByLocale, breaks: "lower and upper do not depend on the locale of the process",
            foundBy: ["FIL-152"], saying: "locale"),
        BrokenStore(
            .caseFoldedByUnicode, breaks: "lower, upper and equalsIgnoringCase fold ASCII letters only",
            foundBy: ["FIL-099"], saying: "ASCII"),
        BrokenStore(
            .lengthInUTF16, breaks: "length counts Unicode scalars",
            foundBy: ["FIL-094"], saying: "length"),
        BrokenStore(
            .lengthInCharacters, breaks: "length counts Unicode scalars",
            foundBy: ["FIL-094"], saying: "length"),
        BrokenStore(
            .substringFromOne, breaks: "substring counts from 0",
            foundBy: ["FIL-096"], saying: "substring"),
        BrokenStore(
            .negativeStartCountsFromEnd, breaks: "A negative start of substring counts as 0",
            foundBy: ["FIL-097"], saying: "substring"),
        BrokenStore(
            .indexOfInBytes, breaks: "indexOf counts Unicode scalars",
            foundBy: ["FIL-095"], saying: "index"),
        BrokenStore(
            .replacesFirstOnly, breaks: "replace replaces every occurrence",
            foundBy: ["FIL-102"], saying: "replac"),
        BrokenStore(
            .trimsSpacesOnly, breaks: "trim takes all ASCII white space",
            foundBy: ["FIL-100"], saying: "trim"),
        BrokenStore(
            .textNormalisedInComparison, breaks: "Texts compare by bytes, without normalisation",
            foundBy: ["FIL-016"], saying: "text"),
        BrokenStore(
            .hoursInLocalTime, breaks: "The parts of an instant are in UTC",
            foundBy: ["FIL-119"], saying: "hour"),
        BrokenStore(
            .datePartsInLocalTime, breaks: "The parts of an instant are in UTC, whatever the process' time zone",
            foundBy: ["FIL-149"], saying: "TZ"),
        BrokenStore(
            .secondsRounded, breaks: "second is the whole second",
            foundBy: ["FIL-120"], saying: "second"),
        BrokenStore(
            .beforeEpochTruncated, breaks: "The parts of an instant before 1970 are right",
            foundBy: ["FIL-120"], saying: "1970"),
        BrokenStore(
            .integersDivideToDouble, breaks: "Division of integers truncates",
            foundBy: ["FIL-106"], saying: "div"),
        BrokenStore(
            .remainderNeverNegative, breaks: "% has the dividend's sign",
            foundBy: ["FIL-107"], saying: "sign"),
        BrokenStore(
            .divisionByZeroIsInfinite, breaks: "Division by zero is null",
            foundBy: ["FIL-108"], saying: "zero"),
        BrokenStore(
            .overflowWraps, breaks: "A result beyond 64 bits becomes a double",
            foundBy: ["FIL-109"], saying: "64 bits"),
        BrokenStore(
            .halvesRoundToEven, breaks: "Halves are rounded away from zero",
            foundBy: ["FIL-113"], saying: "round"),
    ]
}
