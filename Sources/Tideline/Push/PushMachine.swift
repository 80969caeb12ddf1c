/// Decides which operation a push sends next and when the push ends. A pure state machine, without store or network.
///
/// Operations are sent in the order in which they were made, up to the newest operation at the start of the push, a limited
/// number at a time. Operations of one row never overlap. Operations that failed on the server in an earlier push are sent
/// last, so that an operation that can never succeed does not delay others. After an operation fails, later operations of
/// the same row wait for the next push.
struct PushMachine: Sendable {
    /// An event of the push.
    enum Event: Sendable {
        /// The push begins. `last` is the number of the newest operation, or 0 if there is none.
        case started(last: Int64, earlier: EarlierFailures = EarlierFailures())
        /// The result of a search: the oldest operation in the range, or `nil` if there is none.
        case found(Candidate?)
        /// An operation succeeded, or had nothing to send.
        case succeeded(Int64)
        /// An operation failed, and the push may continue.
        case failed(Int64, isServerFailure: Bool)
        /// A policy resolved the conflict of an operation, which is to be sent again.
        case rebased(Int64)
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
        /// Wait until an operation in flight has ended.
        case wait
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

    /// The maximum number of conflicts of one operation that a policy resolves in a push.
    static let maximumResolutions = 4

    /// The bytes of a row's table and key, because canonically equivalent texts are different keys.
    private struct RowKey: Hashable {
        var table: [UInt8]
        var itemKey: [UInt8]

        init(_ candidate: Candidate) {
            table = Array(candidate.table.utf8)
            itemKey = Array(candidate.itemKey.utf8)
        }
    }

    /// The maximum number of operations in flight.
    let maxInFlight: Int

    private var last: Int64 = 0
    private var position: Int64 = 0
    private var inFlight: [Int64: RowKey] = [:]
    /// The operations that were found and not sent yet, oldest first. All but the last wait for one of the same row.
    private var ready: [(id: Int64, row: RowKey)] = []
    /// The rows of operations that failed in this push or are held.
    private var blocked: Set<RowKey> = []
    /// The rows of deferred operations.
    private var waiting: Set<RowKey> = []
    private var serverFailures = 0
    /// The number of conflicts of each operation that a policy has resolved.
    private var resolutions: [Int64: Int] = [:]
    private var earlier = EarlierFailures()
    /// The remaining deferred operations, newest first, or `nil` while other operations are sent.
    private var deferred: [Int64]?

    init(maxInFlight: Int = 1) { self.maxInFlight = maxInFlight }

    mutating func handle(_ event: Event) {
        switch event {
        case .started(let last, let earlier):
            self.last = last
            self.earlier = earlier
        case .found(nil):
            if deferred == nil { position = last }
        case .found(let candidate?):
            consider(candidate)
        case .succeeded(let id):
            inFlight[id] = nil
            serverFailures = 0
        case .failed(let id, let isServerFailure):
            if !earlier.deferred.contains(id) { serverFailures = isServerFailure ? serverFailures + 1 : 0 }
            if let row = inFlight.removeValue(forKey: id) { blocked.insert(row) }
        case .rebased(let id):
            serverFailures = 0
            resolutions[id, default: 0] += 1
            if let row = inFlight.removeValue(forKey: id) { ready.insert((id, row), at: 0) }
        }
    }

    /// Returns whether a policy may resolve another conflict of the operation.
    func mayResolve(_ id: Int64) -> Bool { resolutions[id, default: 0] < Self.maximumResolutions }

    private mutating func consider(_ candidate: Candidate) {
        let row = RowKey(candidate)
        if deferred == nil {
            position = candidate.id
            // Later operations of the row wait until this one has been sent.
            if earlier.held.contains(candidate.id) { blocked.insert(row) }
            if earlier.deferred.contains(candidate.id) { waiting.insert(row) }
            if blocked.contains(row) || waiting.contains(row) { return }
        }
        ready.append((candidate.id, row))
    }

    /// Returns the next action. The operation of ``Action/send(_:)`` is in flight from then on.
    mutating func next() -> Action {
        if serverFailures >= Self.maximumServerFailures { return .giveUp }
        ready.removeAll { blocked.contains($0.row) }
        guard inFlight.count < maxInFlight else { return .wait }
        if let index = ready.firstIndex(where: { !inFlight.values.contains($0.row) }) {
            let (id, row) = ready.remove(at: index)
            inFlight[id] = row
            return .send(id)
        }
        if position < last { return .find(after: position, upTo: last) }
        if deferred == nil { deferred = earlier.deferred.filter { $0 <= last }.sorted(by: >) }
        if let next = deferred?.popLast() { return .find(after: next - 1, upTo: next) }
        return inFlight.isEmpty ? .finish : .wait
    }
}
