internal import TidelineStore

/// The changes of live queries by a transaction whose body has ended.
///
/// From its creation until its end, it holds the hub's commit lock: the next transaction waits with its changes until
/// it is known whether this one was committed.
final class PendingCommit {
    private let hub: ObservationHub
    /// The number of the last commit.
    private let earlierNumber: Int
    /// Whether the transaction changed rows under observation, which gives it a number of its own.
    var changesRows: Bool
    /// The number of the external commits as of the transaction, if all results then include these commits.
    var externalCommit: UInt64?
    private var changes: [(query: LiveRegistration, earlier: LiveRegistration.State?, result: Result)] = []
    private typealias Result = Swift.Result<ResultDelta, any Error>

    /// The tables whose queries were read again.
    private var tablesReadAgain: [String] = []

    /// Acquires the commit lock.
    init(_ hub: ObservationHub, changesRows: Bool) {
        self.hub = hub
        self.changesRows = changesRows
        earlierNumber = hub.lockCommits()
    }

    /// Changes the result of a query. If that fails, the query ends with the error when the transaction is committed.
    func change(_ query: LiveRegistration, _ body: () throws -> ResultDelta) {
        changes.append((query, query.current, Result(catching: body)))
    }

    func noteReadingAgain(_ table: String) { tablesReadAgain.append(table) }

    func start(_ query: LiveRegistration, _ delta: ResultDelta) {
        changes.append((query, nil, .success(delta)))
    }

    /// Delivers the changes.
    func commit() {
        let number = earlierNumber + (changesRows ? 1 : 0)
        for (query, _, result) in changes {
            switch result {
            case .success(let delta): query.mailbox.deliver(delta, commit: number)
            case .failure(let error):
                hub.remove(query)
                query.mailbox.finish(error)
            }
        }
        if let externalCommit { hub.setExternalCommit(externalCommit) }
        hub.unlockCommits(number)
    }

    /// Reverts the changes of the results.
    func rollBack() {
        for (query, earlier, _) in changes.reversed() { query.restore(earlier) }
        // The earlier results may be those of an earlier definition.
        hub.requireReadingAgain(tablesReadAgain)
        hub.unlockCommits(nil)
    }
}
