extension BrokenStore {
    /// Flaws in files.
    static let files: [BrokenStore] = [
        .init(.creationLeavesPart, "A failed creation does not block the next one", "DUR-033", saying: "full"),
        .init(.damageIsCalledIO, "Damage is reported as corrupt", "DUR-211", saying: "corrupt"),
        .init(.firstFailedSyncForgiven, "A commit not synced is not acknowledged", "DUR-028", saying: "acknowledged"),
        .init(.lastCommitWrittenLater, "The last commit is there after reopening", "LIF-014", saying: "last"),
        .init(.writtenWhenClosed, "Acknowledged commits are in the files", "DUR-301", saying: "acknowledged"),
        .init(.deletesNotLogged, "Deleted rows are gone after reopening, too", "LIF-011", saying: "deletions"),
        .init(.secondTableNotLogged, "All tables are there when reopened", "DUR-005", saying: "acknowledged"),
        .init(.definitionsNotLogged, "Definitions survive reopening", "LIF-010", saying: "reopened"),
        .init(.secondOpenerAdmitted, "A second opener of exclusive files is locked out", "LIF-050", saying: "locked"),
        .init(.fileLeftOpen, "close gives back every file handle", "LIF-052", saying: "closed"),
        .init(.neverSynced, "Acknowledged commits survive a power loss", "DUR-006", saying: "power loss"),
        .init(.longCommitNotSynced, "Large commits survive a power loss", "DUR-009", saying: "expected after"),
        .init(.reopenedNotSynced, "Reopened stores keep commits in power losses", "DUR-010", saying: "expected after"),
        .init(.writeErrorsIgnored, "A write that fails is an error", "DUR-020", saying: "error"),
        .init(.failedDefinitionKeepsIndex, "A failed definition leaves no index", "DUR-027", saying: "is defined as"),
        .init(.checksumNotCompared, "A bit that flips in a value is noticed", "DUR-004", saying: "power loss"),
        .init(.cutRecordRead, "A commit that was cut off is not read in part", "DUR-002", saying: "power loss"),
        .init(.fullIsCalledIO, "A store without room says full", "DUR-045", saying: "full"),
        .init(.readOnlyWrites, "A store opened for reading only refuses to write", "LIF-083", saying: "readOnly"),
        .init(.existingIsMade, "Opening only what exists makes nothing", "LIF-080", saying: "exist"),
        .init(.pathDecoded, "Folders may have any name", "LIF-066", saying: "name"),
        .init(.systemMarkLost, "A definition comes back whole after reopening", "SYS-001", saying: "app tables"),
        .init(.fileCutsInstants, "Instants are the same to 100 ns after reopening", "VAL-021", saying: "100 ns"),
        .init(.fileLosesNegativeZero, "-0.0 keeps its sign after reopening", "VAL-015", saying: "sign"),
        .init(.fileReadsEmptyAsNull, "An empty text is not null after reopening", "VAL-023", saying: "empty"),
        .init(.fileEndsTextAtNUL, "A text with NUL is whole after reopening", "VAL-024", saying: "NUL"),
        .init(.fileIntegersThroughDouble, "Integers beyond 2^53 are the same when reopened", "VAL-011", saying: "int"),
        .init(.indexesNotLogged, "Indexes are defined still after reopening", "LIF-010", saying: "reopened"),
        .init(.reopenedFileOverwritten, "A commit after reopening keeps those before", "LIF-012", saying: "grow"),
        .init(.openErrorUntyped, "A store that cannot be opened throws a StoreError", "LIF-070", saying: "StoreError"),
        .init(.foreignFileIsCalledCorrupt, "A foreign file is not called corrupt", "LIF-085", saying: "notAStore"),
        .init(.deniedWritingIsCalledIO, "Denied writing is readOnly", "LIF-077", "DUR-053", saying: "readOnly"),
    ]

    /// Flaws of stores whose files several stores can open at once.
    static let sharing: [BrokenStore] = [
        .init(.longCommitsAreExternal, "Own commits of many rows are not external", "OBS-016", saying: "own commit"),
        .init(.foreignDeletionsUnseen, "Foreign deletes count", "LIF-112", "LIF-113", saying: "external commit number"),
        .init(.countsKept, "A count covers commits of other stores", "LIF-110", "LIF-112", "LIF-113", saying: "count"),
        .init(.readOnlyFrozen, "A store opened for reading only sees later commits", "LIF-087", saying: "reading only"),
        .init(.signalPathDiffers, "Stores over the same files have the same signal path", "OBS-017", saying: "path"),
        .init(.signalFileKept, "Destroying a store removes all of its files", "OBS-019", saying: "remain"),
        .init(.externalNumberAfterClose, "After close, the external number is closed", "OBS-018", saying: "closed"),
    ]

    /// Wrong capabilities.
    static let capabilities: [BrokenStore] = [
        .init(.idLimitOverstated, "Ids of the length that is declared are stored", "VAL-039", saying: "maximum length"),
        .init(.tableLimitNotKept, "Tables beyond the maximum are refused", "MOD-024", saying: "a table beyond the 450"),
        .init(.infinityDeclaredOff, "Infinities declared off are refused", "VAL-020", saying: "infinit"),
        .init(.nanDeclaredOff, "NaN declared off is refused", "VAL-018", saying: "NaN"),
        .init(.persistenceDeclaredOff, "A store declared not persistent keeps nothing", "LIF-010", saying: "empty"),
        .init(.readOnlyNotDeclared, "A store opened for reading only declares so", "LIF-082", saying: "declares"),
        .init(
            .externalNumberWithoutSharing, "A store whose files are not shared has no external commit number",
            "OBS-012", saying: "external commit number"),
        .init(.ownCommitsAreExternal, "The store's own commits are not external", "OBS-013", saying: "own commit"),
        .init(.externalCommitsUnseen, "The commits of other stores are noticed", "OBS-014", "OBS-015", saying: "other"),
    ]
}
