/// Which operation a push sends next, and when it ends: pure decisions, without a store or a network.
///
/// Operations go out in the order they were made, up to the newest there was when the push began, one at a time. Once
/// an operation fails, later ones of the same row wait for the next push.
struct PushMachine: Sendable {
    /// What happened.
    enum Event: Sendable {
        /// The push begins; `last` is the number of the newest operation, 0 when there is none.
        case started(last: Int64)
        /// The oldest operation after the number asked for, nil when there is none.
        case found(Candidate?)
        /// The operation in hand succeeded, or turned out to have nothing to do.
        case succeeded
        /// The operation in hand failed; the push may go on.
        case failed(isServerFailure: Bool)
        /// The push cannot go on.
        case aborted
    }

    /// What to do next.
    enum Action: Sendable, Hashable {
        /// Look for the oldest operation with a number in this range, the first excluded.
        case find(after: Int64, upTo: Int64)
        /// Send this operation.
        case send(Int64)
        /// Nothing more to send.
        case finish
        /// Stop: the server fails again and again.
        case giveUp
    }

    /// An operation by its number and row.
    struct Candidate: Sendable, Hashable {
        var id: Int64
        var table: String
        var itemKey: String
    }

    /// How many operations in a row may fail for the server's own reasons before the push is aborted.
    static let maximumServerFailures = 3

    private struct RowKey: Hashable {
        var table: String
        var itemKey: String
    }

    private var last: Int64 = 0
    private var position: Int64 = 0
    private var current: Candidate?
    private var blocked: Set<RowKey> = []
    private var serverFailures = 0

    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .started(let last):
            self.last = last
            return findNext()
        case .found(nil):
            return .finish
        case .found(let candidate?):
            position = candidate.id
            guard !blocked.contains(RowKey(table: candidate.table, itemKey: candidate.itemKey)) else {
                return findNext()
            }
            current = candidate
            return .send(candidate.id)
        case .succeeded:
            serverFailures = 0
            return findNext()
        case .failed(let isServerFailure):
            serverFailures = isServerFailure ? serverFailures + 1 : 0
            if let current { blocked.insert(RowKey(table: current.table, itemKey: current.itemKey)) }
            return serverFailures == Self.maximumServerFailures ? .giveUp : findNext()
        case .aborted:
            return .finish
        }
    }

    private func findNext() -> Action { position < last ? .find(after: position, upTo: last) : .finish }
}
