extension BrokenStore {
    /// Flaws in lookup and deletion.
    static let lookup: [BrokenStore] = [
        BrokenStore(
            .missThrows, breaks: "Looking up what is not there gives nil",
            foundBy: ["GET-003"], saying: "nil"),
        BrokenStore(
            .lookupHeedsCase, breaks: "Ids compare without regard to ASCII case in lookups",
            foundBy: ["VAL-044", "OBS-003"], saying: "case"),
        BrokenStore(
            .lookupTrimsID, breaks: "An id is compared byte for byte, spaces included",
            foundBy: ["GET-001"], saying: "id"),
        BrokenStore(
            .deleteHeedsCase, breaks: "Ids compare without regard to ASCII case in deletions",
            foundBy: ["VAL-045"], saying: "case"),
        BrokenStore(
            .deleteCountsIDs, breaks: "Deleting by ids returns the number of deleted rows",
            foundBy: ["GET-011"], saying: "counted"),
        BrokenStore(
            .idsCutAtThousand, breaks: "Any number of ids is deleted at once",
            foundBy: ["GET-015"], saying: "ids"),
        BrokenStore(
            .onlyFirstIDDeleted, breaks: "All ids of a deletion are deleted",
            foundBy: ["GET-015"], saying: "ids"),
        BrokenStore(
            .deleteIgnoresSkip, breaks: "Deleting by a query heeds its skip",
            foundBy: ["GET-032"], saying: "skip"),
        BrokenStore(
            .deleteIgnoresLimit, breaks: "Deleting by a query heeds its limit",
            foundBy: ["GET-031", "OBS-004"], saying: "limit"),
        BrokenStore(
            .deleteIgnoresOrder, breaks: "Deleting by a query heeds its order",
            foundBy: ["GET-031"], saying: "order"),
        BrokenStore(
            .deletingAllCountsNone, breaks: "Deleting everything returns the number of rows",
            foundBy: ["GET-022"], saying: "number"),
        BrokenStore(
            .deleteIgnoresCondition, breaks: "Deleting by a query deletes only what matches",
            foundBy: ["GET-033"], saying: "skip and limit"),
        BrokenStore(
            .idTypeNotChecked, breaks: "An id of the wrong type finds nothing",
            foundBy: ["GET-002"], saying: "type"),
        BrokenStore(
            .deletedSpellingKept, breaks: "An id that is inserted again after a deletion has its new spelling",
            foundBy: ["GET-019"], saying: "again"),
    ]
}
