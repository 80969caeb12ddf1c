/// A deliberately broken store: one flaw, the promise that it breaks, and the checks that find it.
package struct BrokenStore: Sendable {
    package let flaw: Flaw
    /// The promise of the contract that the flaw breaks.
    package let promise: String
    /// The checks of that promise; each must find the flaw.
    package let checks: [String]
    /// A word that the promise or the message of a finding must contain, so that the author knows what to fix.
    package let word: String
    /// The number of rows with which the checks run.
    package let rows: Int

    init(_ flaw: Flaw, _ promise: String, _ checks: String..., saying word: String, rows: Int = 500) {
        self.rows = rows
        self.flaw = flaw
        self.promise = promise
        self.checks = checks
        self.word = word
    }

    /// All broken stores.
    package static let all: [BrokenStore] = [
        upsert, lookup, indexes, conditions, functions, logic, order, paging, values, tables, transactions, files,
        amounts, long, sharing, capabilities,
    ].flatMap { $0 }
}

extension BrokenStore: CustomStringConvertible {
    /// The flaw and the promise.
    package var description: String { "\(flaw.rawValue): \(promise)" }
}

extension BrokenStore {
    /// Flaws in definitions.
    static let tables: [BrokenStore] = [
        .init(.redefinitionIgnored, "A redefinition applies the returned tables", "TAB-206", saying: "redefinition"),
        .init(.redefinitionInTwoWrites, "A redefinition is one transaction", "TAB-207", saying: "redefinition"),
        .init(.redefinitionFillsNoIndex, "A redefinition fills new indexes", "TAB-206", saying: "index"),
        .init(.tablesSortedInUTF16, "Tables are listed in order of their names' bytes", "TAB-204", saying: "order"),
        .init(.newerFormatRead, "A store of a later format is refused", "TAB-205", saying: "newerFormat"),
        .init(.definitionNotAtomic, "Tables are defined all or none", "TAB-125", saying: "refused"),
        .init(.redefinitionLosesRows, "Another definition keeps the rows", "TAB-060", saying: "rows"),
        .init(.droppedColumnErased, "A column that is no longer named stays stored", "TAB-082", saying: "values"),
        .init(.changedTypeAccepted, "A column's type cannot change", "TAB-121", saying: "type"),
        .init(.tablesUnsorted, "Tables are listed in order of name", "TAB-005", saying: "order"),
        .init(.systemTablesNotListed, "The framework's tables are listed, too", "SYS-001", saying: "all tables"),
        .init(.newColumnIsZero, "A new column is null in the rows there are", "TAB-061", "OBS-008", saying: "null"),
        .init(.undefinedTableIsEmpty, "A table that is not defined is noSuchTable", "TAB-020", saying: "noSuchTable"),
        .init(.idTypeChangeAccepted, "The matching of ids cannot change", "TAB-124", saying: "match"),
        .init(.namesNotChecked, "Invalid definitions are refused", "TAB-045", saying: "schemaMismatch"),
        .init(.columnsMoveWithDefinition, "Values stay with a column that is moved", "TAB-063", saying: "column"),
        .init(.scannedColumnsAsStored, "Scanned columns are as last defined", "TAB-063", "OBS-008", saying: "columns"),
        .init(.columnNamesIgnoreCase, "The names of columns differ in case", "FIL-132", saying: "column"),
        .init(.tableNamesComparedByBytes, "Names in all normal forms find a table", "TAB-036", saying: "noSuchTable"),
        .init(.nameFormsNotChecked, "Names not in normal form C are refused", "TAB-036", saying: "schemaMismatch"),
        .init(.undefinedTableInDeleteIgnored, "Undefined tables refuse deletions", "TAB-022", saying: "noSuchTable"),
        .init(.indexesNotListed, "The definitions listed are those that were given", "TAB-002", saying: "indexes"),
        .init(.optionalChangeIgnored, "A column can become required", "TAB-065", saying: "required"),
        .init(.retiredTypeForgotten, "A column that comes back has its stored type", "TAB-085", saying: "type"),
        .init(.columnCaseChangeAccepted, "A column that differs in case only is refused", "TAB-128", saying: "case"),
    ]

    /// Flaws in transactions, threads and scopes.
    static let transactions: [BrokenStore] = [
        .init(.nestedReadSeesWrite, "A read in a write sees only committed data", "TRN-038", saying: "within a write"),
        .init(.readersLimited, "All threads may read at once", "CON-036", "LNG-006", saying: "busy", rows: 10_000),
        .init(.rollbackForgetsSecondTable, "A rollback takes back changes of all tables", "TRN-003", saying: "second"),
        .init(.rollbackKeepsAll, "When the body throws, nothing remains", "TRN-002", "OBS-005", saying: "throws"),
        .init(.deletesNotRolledBack, "A rollback brings deleted rows back", "TRN-005", saying: "deleted"),
        .init(.dirtyReads, "A transaction's changes are not seen before its commit", "TRN-035", saying: "commits"),
        .init(.snapshotMoves, "A read sees one snapshot throughout", "TRN-040", "LNG-022", saying: "read"),
        .init(.ownWritesUnseen, "A transaction sees its own changes", "TRN-022", "OBS-001", "OBS-011", saying: "own"),
        .init(.deletesAppliedLast, "Changes of one id apply in their order", "TRN-034", "OBS-002", saying: "filled"),
        .init(.nestedWriteWaits, "A write inside a body does not wait for itself", "TRN-019", saying: "busy"),
        .init(.nestedWriteJoins, "A write inside a write is busy", "TRN-019", saying: "busy"),
        .init(.nestedReadRefused, "Reads nest", "CON-015", saying: "nest"),
        .init(.bodyRunsTwice, "A body runs once", "TRN-018", saying: "once"),
        .init(.writersAtOnce, "Writers wait for each other", "CON-024", "OBS-010", saying: "waits"),
        .init(.tablesCommittedOneByOne, "Readers see no half of a commit", "CON-002", saying: "partial"),
        .init(.handleOutlivesBody, "A reader or writer ends with its body", "LIF-030", "LIF-032", saying: "closed"),
        .init(.readAfterClose, "Reading after close is closed", "LIF-021", saying: "closed"),
        .init(.tablesAfterClose, "Listing the tables after close is closed", "LIF-024", saying: "closed"),
        .init(.closeDoesNotWait, "close waits for the work in flight", "LIF-025", "LIF-026", saying: "waits"),
        .init(.secondCloseFails, "Closing again does nothing", "LIF-020", saying: "twice"),
        .init(.bodyErrorReplaced, "The error that the body throws is thrown on", "TRN-015", saying: "error"),
        .init(.scanSeesChanges, "A scan in a write gives the rows there were when it began", "TRN-050", saying: "scan"),
        .init(.cancelledAfterCommit, "A write that throws cancelled wrote nothing", "TRN-059", saying: "cancelled"),
        .init(.readerBlocksWriter, "A reader leaves writers free to commit", "CON-012", saying: "long read"),
        .init(.busyInsteadOfWaiting, "Writers wait for each other instead of failing", "CON-024", saying: "waits"),
        .init(.ownWritesUnseenByQueries, "Queries find own changes", "TRN-023", "OBS-006", "OBS-007", saying: "own"),
        .init(.secondTableNotCommitted, "A transaction commits the changes of all tables", "TRN-001", saying: "tables"),
        .init(.scanErrorSwallowed, "An error thrown in a scan's body is thrown on", "TRN-016", saying: "error"),
    ]
}
