extension BrokenStore {
    /// Flaws in transactions, threads and scopes.
    static let transactions: [BrokenStore] = [
        .init(
            .nestedReadSeesWrite, "A read within a write does not see what is not committed", "TRN-038",
            saying: "within a write"),
        .init(
            .readersLimited, "Any number of threads may read at once", "CON-036", "LNG-006", saying: "busy",
            rows: 10_000),
        .init(
            .rollbackForgetsSecondTable, "A rollback takes back the changes of all tables", "TRN-003",
            saying: "second"),
        .init(.rollbackKeepsAll, "When the body throws, nothing remains", "TRN-002", "OBS-005", saying: "throws"),
        .init(.deletesNotRolledBack, "A rollback brings deleted rows back", "TRN-005", saying: "deleted"),
        .init(
            .dirtyReads, "A transaction's changes are not seen outside before it is committed", "TRN-035",
            saying: "commits"),
        .init(.snapshotMoves, "A read sees one snapshot throughout", "TRN-040", "LNG-022", saying: "read"),
        .init(.ownWritesUnseen, "A transaction sees its own changes", "TRN-022", "OBS-001", "OBS-011", saying: "own"),
        .init(.deletesAppliedLast, "Changes of one id apply in their order", "TRN-034", "OBS-002", saying: "filled"),
        .init(
            .nestedWriteWaits, "A write inside a body of the same store does not wait for itself", "TRN-019",
            saying: "busy"),
        .init(.nestedWriteJoins, "A write inside a write is busy", "TRN-019", saying: "busy"),
        .init(.nestedReadRefused, "Reads nest", "CON-015", saying: "nest"),
        .init(.bodyRunsTwice, "A body runs once", "TRN-018", saying: "once"),
        .init(.writersAtOnce, "Writers wait for each other", "CON-024", "OBS-010", saying: "waits"),
        .init(.tablesCommittedOneByOne, "Readers see no half of a commit", "CON-002", saying: "partial"),
        .init(
            .handleOutlivesBody, "A reader or writer used after its body is closed", "LIF-030", "LIF-032",
            saying: "closed"),
        .init(.readAfterClose, "Reading after close is closed", "LIF-021", saying: "closed"),
        .init(.tablesAfterClose, "Listing the tables after close is closed", "LIF-024", saying: "closed"),
        .init(.closeDoesNotWait, "close waits for the work in flight", "LIF-025", "LIF-026", saying: "waits"),
        .init(.secondCloseFails, "Closing again does nothing", "LIF-020", saying: "twice"),
        .init(.bodyErrorReplaced, "The error that the body throws is thrown on", "TRN-015", saying: "error"),
        .init(.scanSeesChanges, "A scan in a write gives the rows there were when it began", "TRN-050", saying: "scan"),
        .init(
            .cancelledAfterCommit, "A write that throws cancelled has written nothing", "TRN-059", saying: "cancelled"),
        .init(.readerBlocksWriter, "A reader leaves writers free to commit", "CON-012", saying: "long read"),
        .init(.busyInsteadOfWaiting, "Writers wait for each other instead of failing", "CON-024", saying: "waits"),
        .init(
            .ownWritesUnseenByQueries, "The queries of a transaction see its own changes", "TRN-023", "OBS-006",
            "OBS-007", saying: "own"),
        .init(.secondTableNotCommitted, "A transaction commits the changes of all tables", "TRN-001", saying: "tables"),
        .init(.scanErrorSwallowed, "An error thrown in a scan's body is thrown on", "TRN-016", saying: "error"),
    ]
}
