extension BrokenStore {
    /// Flaws in files.
    static let files: [BrokenStore] = [
        BrokenStore(
            .creationLeavesPart, breaks: "A creation that fails on a full disk leaves nothing that blocks the next one",
            foundBy: ["DUR-033"], saying: "full"),
        BrokenStore(
            .damageIsCalledIO, breaks: "Damage is reported as corrupt",
            foundBy: ["DUR-211"], saying: "corrupt"),
        BrokenStore(
            .firstFailedSyncForgiven, breaks: "A commit whose sync fails is not acknowledged",
            foundBy: ["DUR-028"], saying: "acknowledged"),
        BrokenStore(
            .lastCommitWrittenLater, breaks: "The last commit is there after reopening",
            foundBy: ["LIF-014"], saying: "last"),
        BrokenStore(
            .writtenWhenClosed, breaks: "Acknowledged commits are in the files",
            foundBy: ["DUR-301"], saying: "acknowledged"),
        BrokenStore(
            .deletesNotLogged, breaks: "Deleted rows are gone after reopening, too",
            foundBy: ["LIF-011"], saying: "deletions"),
        BrokenStore(
            .secondTableNotLogged, breaks: "All tables of a transaction are there after reopening",
            foundBy: ["DUR-005"], saying: "acknowledged"),
        BrokenStore(
            .definitionsNotLogged, breaks: "Definitions survive reopening",
            foundBy: ["LIF-010"], saying: "reopened"),
        BrokenStore(
            .secondOpenerAdmitted, breaks: "A second opener of files that cannot be shared is locked out",
            foundBy: ["LIF-050"], saying: "locked"),
        BrokenStore(
            .fileLeftOpen, breaks: "close gives back every file handle",
            foundBy: ["LIF-052"], saying: "closed"),
        BrokenStore(
            .neverSynced, breaks: "Acknowledged commits survive a power loss",
            foundBy: ["DUR-006"], saying: "power loss"),
        BrokenStore(
            .writeErrorsIgnored, breaks: "A write that fails is an error",
            foundBy: ["DUR-020"], saying: "error"),
        BrokenStore(
            .checksumNotCompared, breaks: "A bit that flips in a value is noticed",
            foundBy: ["DUR-004"], saying: "power loss"),
        BrokenStore(
            .cutRecordRead, breaks: "A commit that was cut off is not read in part",
            foundBy: ["DUR-002"], saying: "power loss"),
        BrokenStore(
            .fullIsCalledIO, breaks: "A store without room says full",
            foundBy: ["DUR-045"], saying: "full"),
        BrokenStore(
            .readOnlyWrites, breaks: "A store opened for reading only refuses to write",
            foundBy: ["LIF-083"], saying: "readOnly"),
        BrokenStore(
            .existingIsMade, breaks: "Opening only what exists makes nothing",
            foundBy: ["LIF-080"], saying: "exist"),
        BrokenStore(
            .pathDecoded, breaks: "Folders may have any name",
            foundBy: ["LIF-066"], saying: "name"),
        BrokenStore(
            .systemMarkLost, breaks: "A definition comes back whole after reopening",
            foundBy: ["SYS-001"], saying: "app tables"),
        BrokenStore(
            .fileCutsInstants, breaks: "Instants are the same to 100 ns after reopening",
            foundBy: ["VAL-021"], saying: "100 ns"),
        BrokenStore(
            .fileLosesNegativeZero, breaks: "-0.0 keeps its sign after reopening",
            foundBy: ["VAL-015"], saying: "sign"),
        BrokenStore(
            .fileReadsEmptyAsNull, breaks: "An empty text is not null after reopening",
            foundBy: ["VAL-023"], saying: "empty"),
        BrokenStore(
            .fileEndsTextAtNUL, breaks: "A text with NUL is whole after reopening",
            foundBy: ["VAL-024"], saying: "NUL"),
        BrokenStore(
            .fileIntegersThroughDouble, breaks: "Integers beyond 2^53 are the same after reopening",
            foundBy: ["VAL-011"], saying: "int"),
        BrokenStore(
            .indexesNotLogged, breaks: "Indexes are defined still after reopening",
            foundBy: ["LIF-010"], saying: "reopened"),
        BrokenStore(
            .reopenedFileOverwritten, breaks: "A commit after reopening takes nothing from those before",
            foundBy: ["LIF-012"], saying: "grow"),
        BrokenStore(
            .openErrorUntyped, breaks: "A store that cannot be opened throws a StoreError",
            foundBy: ["LIF-070"], saying: "StoreError"),
        BrokenStore(
            .foreignFileIsCalledCorrupt, breaks: "A file of another program is not called damaged",
            foundBy: ["LIF-085"], saying: "notAStore"),
        BrokenStore(
            .deniedWritingIsCalledIO, breaks: "Missing permission to write is readOnly",
            foundBy: ["LIF-077", "DUR-053"], saying: "readOnly"),
    ]
}
