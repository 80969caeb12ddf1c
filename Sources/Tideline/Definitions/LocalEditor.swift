internal import TidelineStore

/// Makes the app's changes of tables, for the store's user.
struct LocalEditor: Sendable {
    let operations: OperationStore
    let owners: OwnerStore
    let clients: StoreClients
    /// See ``SyncDatabase/commitEpoch(_:)``.
    let epoch: @Sendable (_ externalCommit: UInt64?) -> UInt64?
    let options: SyncOptions

    /// Returns the changes of a table within a transaction, after the store's user is confirmed.
    func changes(of table: String, in writer: some StoreWriter) throws -> LocalChanges {
        try RowInput.checkName(table)
        let epoch = epoch(try writer.externalCommitNumber())
        try owners.confirmUser(at: epoch, in: writer)
        return LocalChanges(
            operations: operations, schema: try writer.schema(of: table), epoch: epoch,
            writesRows: options.handlesSyncTableOperations,
            rejectsInsertOverPendingDelete: options.rejectsInsertOverPendingDelete, inFlight: clients.inFlight)
    }
}
