public import TidelineStore

/// What only a sync client does; a subject that is no store throws ``WorkNotApplicable``.
///
/// All works on one opened store are of one client, and of the servers that the works name.
public enum SyncWork: Sendable {
    /// Makes the client, with the tables of its queue, so that the next work need not. The answer is empty.
    case connect
    /// Pulls what the server has, by a query id: all rows first, then what changed since. The answer counts the rows stored
    /// and removed; an operation is a transaction, with what was asked for and parsed for it.
    case pull(SyncServer, pageSize: Int, pagesPerTransaction: Int)
    /// Makes changes as an app does, each in a transaction of its own with its entry in the queue. The answer counts them; an
    /// operation is a change.
    case edit([LocalEdit])
    /// Writes rows and makes an update of each pending: the queue that so many changes would leave, by copies of one operation,
    /// sooner than they would. The answer counts the operations.
    case fillQueue([RowBatch])
    /// Sends all pending operations to the server, each request and its answer taking a time on the way. The answer counts
    /// the operations that are no longer pending; an operation is one of those.
    case push(SyncServer, roundTrip: Duration)
    /// Closes the store, opens it as an app that starts does, makes the client, asks how long the queue is, and pushes until
    /// the first request is on its way, which is lost. The answer is the number of pending operations; an operation is a
    /// start.
    case restart
    /// Puts a server into a state, which is no work of the client's. The answer is empty.
    case serve(SyncServer, SyncServer.Change)
    /// Removes all rows of the table without telling the server. The answer counts them.
    case purge
}

/// A change that an app makes to a local table.
public enum LocalEdit: Sendable {
    /// A new row, as the app has it: without the columns that a server makes.
    case insert(Row)
    /// New values of some columns of a row.
    case update(Row)
    /// The end of a row.
    case delete(id: String)
}
