internal import TidelineStore

/// Makes the app's changes of tables, for the store's user.
struct LocalEditor<Store: LocalStore>: Sendable {
    let queue: OperationQueue<Store>
    let owners: OwnerStore
    let options: SyncOptions

    /// Returns the changes of a table within a transaction, after the store's user is confirmed.
    func changes(of table: String, in writer: some StoreWriter) throws -> LocalChanges {
        try RowInput.checkName(table)
        let database = queue.database
        let epoch = database.commitEpoch(try writer.externalCommitNumber())
        try owners.confirmUser(at: epoch, in: writer)
        return LocalChanges(
            operations: queue.operations, schema: try writer.schema(of: table), epoch: epoch,
            writesRows: options.handlesSyncTableOperations,
            rejectsInsertOverPendingDelete: options.rejectsInsertOverPendingDelete, inFlight: database.clients.inFlight)
    }
}
