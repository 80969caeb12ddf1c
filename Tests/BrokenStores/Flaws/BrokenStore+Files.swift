extension BrokenStore {
    /// Flaws in files.
    static let files: [BrokenStore] = [
        .init(
            .creationLeavesPart, "A creation that fails on a full disk leaves nothing that blocks the next one",
            foundBy: "DUR-033", saying: "full"),
        .init(.damageIsCalledIO, "Damage is reported as corrupt", foundBy: "DUR-211", saying: "corrupt"),
        .init(
            .firstFailedSyncForgiven, "A commit whose sync fails is not acknowledged",
            foundBy: "DUR-028", saying: "acknowledged"),
        .init(.lastCommitWrittenLater, "The last commit is there after reopening", foundBy: "LIF-014", saying: "last"),
        .init(.writtenWhenClosed, "Acknowledged commits are in the files", foundBy: "DUR-301", saying: "acknowledged"),
        .init(.deletesNotLogged, "Deleted rows are gone after reopening, too", foundBy: "LIF-011", saying: "deletions"),
        .init(
            .secondTableNotLogged, "All tables of a transaction are there after reopening",
            foundBy: "DUR-005", saying: "acknowledged"),
        .init(.definitionsNotLogged, "Definitions survive reopening", foundBy: "LIF-010", saying: "reopened"),
        .init(
            .secondOpenerAdmitted, "A second opener of files that cannot be shared is locked out",
            foundBy: "LIF-050", saying: "locked"),
        .init(.fileLeftOpen, "close gives back every file handle", foundBy: "LIF-052", saying: "closed"),
        .init(.neverSynced, "Acknowledged commits survive a power loss", foundBy: "DUR-006", saying: "power loss"),
        .init(.writeErrorsIgnored, "A write that fails is an error", foundBy: "DUR-020", saying: "error"),
        .init(.checksumNotCompared, "A bit that flips in a value is noticed", foundBy: "DUR-004", saying: "power loss"),
        .init(
            .cutRecordRead, "A commit that was cut off is not read in part", foundBy: "DUR-002", saying: "power loss"),
        .init(.fullIsCalledIO, "A store without room says full", foundBy: "DUR-045", saying: "full"),
        .init(
            .readOnlyWrites, "A store opened for reading only refuses to write",
            foundBy: "LIF-083", saying: "readOnly"),
        .init(.existingIsMade, "Opening only what exists makes nothing", foundBy: "LIF-080", saying: "exist"),
        .init(.pathDecoded, "Folders may have any name", foundBy: "LIF-066", saying: "name"),
        .init(
            .systemMarkLost, "A definition comes back whole after reopening", foundBy: "SYS-001", saying: "app tables"),
        .init(
            .fileCutsInstants, "Instants are the same to 100 ns after reopening", foundBy: "VAL-021", saying: "100 ns"),
        .init(.fileLosesNegativeZero, "-0.0 keeps its sign after reopening", foundBy: "VAL-015", saying: "sign"),
        .init(.fileReadsEmptyAsNull, "An empty text is not null after reopening", foundBy: "VAL-023", saying: "empty"),
        .init(.fileEndsTextAtNUL, "A text with NUL is whole after reopening", foundBy: "VAL-024", saying: "NUL"),
        .init(
            .fileIntegersThroughDouble, "Integers beyond 2^53 are the same after reopening",
            foundBy: "VAL-011", saying: "int"),
        .init(.indexesNotLogged, "Indexes are defined still after reopening", foundBy: "LIF-010", saying: "reopened"),
        .init(
            .reopenedFileOverwritten, "A commit after reopening takes nothing from those before",
            foundBy: "LIF-012", saying: "grow"),
        .init(
            .openErrorUntyped, "A store that cannot be opened throws a StoreError",
            foundBy: "LIF-070", saying: "StoreError"),
        .init(
            .foreignFileIsCalledCorrupt, "A file of another program is not called damaged",
            foundBy: "LIF-085", saying: "notAStore"),
        .init(
            .deniedWritingIsCalledIO, "Missing permission to write is readOnly",
            foundBy: "LIF-077", "DUR-053", saying: "readOnly"),
    ]

    /// Flaws of stores whose files several stores can open at once.
    static let sharing: [BrokenStore] = [
        .init(
            .longCommitsAreExternal, "The store's own commits are not external, however many rows they have",
            foundBy: "OBS-016", saying: "own commit"),
        .init(
            .foreignDeletionsUnseen, "The deletions of other stores are noticed",
            foundBy: "LIF-112", "LIF-113", saying: "external commit number"),
        .init(
            .countsKept, "A count covers the commits of other stores",
            foundBy: "LIF-110", "LIF-112", "LIF-113", saying: "count"),
        .init(
            .readOnlyFrozen, "A store opened for reading only sees later commits",
            foundBy: "LIF-087", saying: "reading only"),
        .init(
            .signalPathDiffers, "All stores over the same files have the same signal path",
            foundBy: "OBS-017", saying: "path"),
        .init(.signalFileKept, "Destroying a store removes all of its files", foundBy: "OBS-019", saying: "remain"),
        .init(
            .redefinitionInTwoWrites, "Nothing is committed between the body of a redefinition and its end",
            foundBy: "TAB-207", saying: "redefinition"),
        .init(
            .externalNumberAfterClose, "After close, the external commit number is closed",
            foundBy: "OBS-018", saying: "closed"),
    ]

    /// Wrong capabilities.
    static let capabilities: [BrokenStore] = [
        .init(
            .idLimitOverstated, "Ids of the length that is declared are stored",
            foundBy: "VAL-039", saying: "maximum length"),
        .init(.infinityDeclaredOff, "Infinities declared off are refused", foundBy: "VAL-020", saying: "infinit"),
        .init(.nanDeclaredOff, "NaN declared off is refused", foundBy: "VAL-018", saying: "NaN"),
        .init(
            .persistenceDeclaredOff, "A store that declares nothing persistent keeps nothing",
            foundBy: "LIF-010", saying: "empty"),
        .init(
            .readOnlyNotDeclared, "A store opened for reading only declares so",
            foundBy: "LIF-082", saying: "declares"),
        .init(
            .externalNumberWithoutSharing, "A store whose files are not shared has no external commit number",
            foundBy: "OBS-012", saying: "external commit number"),
        .init(
            .ownCommitsAreExternal, "The store's own commits are not external",
            foundBy: "OBS-013", saying: "own commit"),
        .init(
            .externalCommitsUnseen, "The commits of other stores over the same files are noticed",
            foundBy: "OBS-014", "OBS-015", saying: "other"),
    ]
}
