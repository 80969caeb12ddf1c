extension BrokenStore {
    /// Flaws in transactions, threads and scopes.
    static let transactions: [BrokenStore] = [
        BrokenStore(
            .nestedReadSeesWrite, breaks: "A read within a write does not see what is not committed",
            foundBy: ["TRN-038"], saying: "within a write"),
        BrokenStore(
            .readersLimited, breaks: "Any number of threads may read at once",
            foundBy: ["CON-036", "LNG-006"], saying: "busy", rows: 10_000),
        BrokenStore(
            .rollbackForgetsSecondTable, breaks: "A rollback takes back the changes of all tables",
            foundBy: ["TRN-003"], saying: "second"),
        BrokenStore(
            .rollbackKeepsAll, breaks: "When the body throws, nothing remains",
            foundBy: ["TRN-002", "OBS-005"], saying: "throws"),
        BrokenStore(
            .deletesNotRolledBack, breaks: "A rollback brings deleted rows back",
            foundBy: ["TRN-005"], saying: "deleted"),
        BrokenStore(
            .dirtyReads, breaks: "A transaction's changes are not seen outside before it is committed",
            foundBy: ["TRN-035"], saying: "commits"),
        BrokenStore(
            .snapshotMoves, breaks: "A read sees one snapshot throughout",
            foundBy: ["TRN-040", "LNG-022"], saying: "read"),
        BrokenStore(
            .ownWritesUnseen, breaks: "A transaction sees its own changes",
            foundBy: ["TRN-022", "OBS-001", "OBS-011"], saying: "own"),
        BrokenStore(
            .deletesAppliedLast, breaks: "Changes of one id apply in their order",
            foundBy: ["TRN-034", "OBS-002"], saying: "filled"),
        BrokenStore(
            .nestedWriteWaits, breaks: "A write inside a body of the same store does not wait for itself",
            foundBy: ["TRN-019"], saying: "busy"),
        BrokenStore(
            .nestedWriteJoins, breaks: "A write inside a write is busy",
            foundBy: ["TRN-019"], saying: "busy"),
        BrokenStore(
            .nestedReadRefused, breaks: "Reads nest",
            foundBy: ["CON-015"], saying: "nest"),
        BrokenStore(
            .bodyRunsTwice, breaks: "A body runs once",
            foundBy: ["TRN-018"], saying: "once"),
        BrokenStore(
            .writersAtOnce, breaks: "Writers wait for each other",
            foundBy: ["CON-024", "OBS-010"], saying: "waits"),
        BrokenStore(
            .tablesCommittedOneByOne, breaks: "Readers see no half of a commit",
            foundBy: ["CON-002"], saying: "partial"),
        BrokenStore(
            .handleOutlivesBody, breaks: "A reader or writer used after its body is closed",
            foundBy: ["LIF-030", "LIF-032"], saying: "closed"),
        BrokenStore(
            .readAfterClose, breaks: "Reading after close is closed",
            foundBy: ["LIF-021"], saying: "closed"),
        BrokenStore(
            .tablesAfterClose, breaks: "Listing the tables after close is closed",
            foundBy: ["LIF-024"], saying: "closed"),
        BrokenStore(
            .closeDoesNotWait, breaks: "close waits for the work in flight",
            foundBy: ["LIF-025", "LIF-026"], saying: "waits"),
        BrokenStore(
            .secondCloseFails, breaks: "Closing again does nothing",
            foundBy: ["LIF-020"], saying: "twice"),
        BrokenStore(
            .bodyErrorReplaced, breaks: "The error that the body throws is thrown on",
            foundBy: ["TRN-015"], saying: "error"),
        BrokenStore(
            .scanSeesChanges, breaks: "A scan in a write gives the rows there were when it began",
            foundBy: ["TRN-050"], saying: "scan"),
        BrokenStore(
            .cancelledAfterCommit, breaks: "A write that throws cancelled has written nothing",
            foundBy: ["TRN-059"], saying: "cancelled"),
        BrokenStore(
            .readerBlocksWriter, breaks: "A reader leaves writers free to commit",
            foundBy: ["CON-012"], saying: "long read"),
        BrokenStore(
            .busyInsteadOfWaiting, breaks: "Writers wait for each other instead of failing",
            foundBy: ["CON-024"], saying: "waits"),
        BrokenStore(
            .ownWritesUnseenByQueries, breaks: "The queries of a transaction see its own changes",
            foundBy: ["TRN-023", "OBS-006", "OBS-007"], saying: "own"),
        BrokenStore(
            .secondTableNotCommitted, breaks: "A transaction commits the changes of all tables",
            foundBy: ["TRN-001"], saying: "tables"),
        BrokenStore(
            .scanErrorSwallowed, breaks: "An error thrown in a scan's body is thrown on",
            foundBy: ["TRN-016"], saying: "error"),
    ]
}
