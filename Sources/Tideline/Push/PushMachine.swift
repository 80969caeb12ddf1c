/// Decides which operation a push sends next and when the push ends. A pure state machine, without store or network.
///
/// Operations are sent one at a time, in the order in which they were made, up to the newest operation at the start of
/// the push. Operations that failed on the server in an earlier push are sent last, so that an operation that can never
/// succeed does not delay others. After an operation fails, later operations of the same row wait for the next push.
struct PushMachine: Sendable {
    /// An event of the push.
    enum Event: Sendable {
        /// The push begins. `last` is the number of the newest operation, or 0 if there is none.
        case started(last: Int64, earlier: EarlierFailures = EarlierFailures())
        /// The result of a search: the oldest operation in the range, or `nil` if there is none.
        case found(Candidate?)
        /// The operation in flight succeeded, or had nothing to send.
        case succeeded
        /// The operation in flight failed, and the push may continue.
        case failed(isServerFailure: Bool)
        /// The push cannot continue.
        case aborted
    }

    /// The operations that failed in earlier pushes and have not changed since.
    struct EarlierFailures: Sendable, Hashable {
        /// The operations to send after all others.
        var deferred: Set<Int64> = []
        /// The operations not to send, such as conflicts that are not resolved.
        var held: Set<Int64> = []
    }

    /// The next action.
    enum Action: Sendable, Hashable {
        /// Find the oldest operation with a number greater than `after` and at most `upTo`.
        case find(after: Int64, upTo: Int64)
        /// Send this operation.
        case send(Int64)
        /// End the push, because there is nothing more to send.
        case finish
        /// Abort the push, because the server fails repeatedly.
        case giveUp
    }

    /// An operation by its number and row.
    struct Candidate: Sendable, Hashable {
        var id: Int64
        var table: String
        var itemKey: String
    }

    /// The number of consecutive server failures that aborts the push.
    static let maximumServerFailures = 3

    /// The bytes of a row's table and key, because canonically equivalent texts are different keys.
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
    /// The rows of operations that failed in this push or are held.
    private var blocked: Set<RowKey> = []
    /// The rows of deferred operations.
    private var waiting: Set<RowKey> = []
    private var serverFailures = 0
    private var earlier = EarlierFailures()
    /// The remaining deferred operations, newest first, or `nil` while other operations are sent.
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
            // Later operations of its row wait until it has been sent.
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
