/// Which operation a push sends next, and when it ends: pure decisions, without a store or a network.
///
/// Operations go out in the order they were made, up to the newest there was when the push began, one at a time. Those that
/// ended in a server failure before come last, so that an operation that can never succeed delays no other. Once an
/// operation fails, later ones of the same row wait for the next push.
struct PushMachine: Sendable {
    /// What happened.
    enum Event: Sendable {
        /// The push begins; `last` is the number of the newest operation, 0 when there is none.
        case started(last: Int64, earlier: EarlierFailures = EarlierFailures())
        /// The oldest operation after the number asked for, nil when there is none.
        case found(Candidate?)
        /// The operation in flight succeeded, or turned out to have nothing to do.
        case succeeded
        /// The operation in flight failed; the push may go on.
        case failed(isServerFailure: Bool)
        /// The push cannot go on.
        case aborted
    }

    /// The operations that failed in earlier pushes and have not changed since.
    struct EarlierFailures: Sendable, Hashable {
        /// Sent after all others.
        var deferred: Set<Int64> = []
        /// Not sent: a conflict, for example, stays one until somebody settles it.
        var held: Set<Int64> = []
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

    /// A row by the bytes of its table and key: canonically equivalent texts are different keys.
    private struct RowKey: Hashable {
        var table: [UInt8]
        var itemKey: [UInt8]

        init(_ candidate: Candidate) {
            table = Array(candidate.table.utf8)
            itemKey = Array(candidate.itemKey.utf8)
        }
    }

    private var last: Int64 = 0
    private var position: Int64 = 0
    private var current: Candidate?
    /// Rows of operations that failed in this push, or are held.
    private var blocked: Set<RowKey> = []
    /// Rows of deferred operations.
    private var waiting: Set<RowKey> = []
    private var serverFailures = 0
    private var earlier = EarlierFailures()
    /// The deferred operations that are still to be sent, the newest first; nil while others are sent.
    private var deferred: [Int64]?

    mutating func handle(_ event: Event) -> Action {
        switch event {
        case .started(let last, let earlier):
            self.last = last
            self.earlier = earlier
            return findNext()
        case .found(nil):
            return deferred == nil ? sendDeferred() : findNext()
        case .found(let candidate?):
            return consider(candidate)
        case .succeeded:
            serverFailures = 0
            return findNext()
        case .failed(let isServerFailure):
            if deferred == nil { serverFailures = isServerFailure ? serverFailures + 1 : 0 }
            if let current { blocked.insert(RowKey(current)) }
            return serverFailures == Self.maximumServerFailures ? .giveUp : findNext()
        case .aborted:
            return .finish
        }
    }

    private mutating func consider(_ candidate: Candidate) -> Action {
        position = candidate.id
        let row = RowKey(candidate)
        if deferred == nil, earlier.held.contains(candidate.id) || earlier.deferred.contains(candidate.id) {
            // What came behind it in its row waits until it has been sent.
            if earlier.held.contains(candidate.id) { blocked.insert(row) } else { waiting.insert(row) }
            return findNext()
        }
        guard !blocked.contains(row), deferred != nil || !waiting.contains(row) else { return findNext() }
        current = candidate
        return .send(candidate.id)
    }

    private mutating func findNext() -> Action {
        if deferred != nil {
            guard let next = deferred?.popLast() else { return .finish }
            return .find(after: next - 1, upTo: next)
        }
        return position < last ? .find(after: position, upTo: last) : sendDeferred()
    }

    private mutating func sendDeferred() -> Action {
        deferred = earlier.deferred.filter { $0 <= last }.sorted(by: >)
        return findNext()
    }
}
