internal import TidelineStore

/// Decides which operation a push sends next and when the push ends. A pure state machine, without store or network.
///
/// Operations are sent in the order in which they were made, up to the newest operation at the start of the push, a
/// limited number at a time. Operations of one row never overlap. Operations that failed on the server in an earlier
/// push are sent last, so that an operation that can never succeed does not delay others. After an operation fails,
/// later operations of the same row wait for the next push.
///
/// The caller reports an operation that must wait for another one because of a reference between their rows. That one
/// is brought forward if it was not found yet. If it is not sent in this push, or fails, the operations that wait for
/// it are held back, and so are those that wait for them.
struct PushMachine: Sendable {
    /// An event of the push.
    enum Event: Sendable {
        /// The push begins. `last` is the number of the newest operation, or 0 if there is none.
        case started(last: Int64, earlier: EarlierFailures = EarlierFailures())
        /// The result of a search: the oldest operation in the range, or `nil` if there is none.
        case found(Candidate?)
        /// The operation to send must wait until another one has succeeded.
        case mustWait(Int64, for: Candidate)
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
        /// The deferred operations for which the server was repeatedly not available.
        var unavailable: Set<Int64> = []
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

        fileprivate var row: RowName { RowName(table: table, itemKey: itemKey) }
    }

    /// The number of consecutive server failures that aborts the push.
    static let maximumServerFailures = 3

    /// The maximum number of conflicts of one operation that a policy resolves in a push.
    static let maximumResolutions = 4

    /// The maximum number of operations that wait for others while a request is in flight. The search pauses then, so
    /// that a long queue of rows that reference one new row is not read into memory.
    static let maximumWaiting = 256

    private typealias Entry = (id: Int64, row: RowName)

    /// The maximum number of operations in flight.
    let maxInFlight: Int

    private var last: Int64 = 0
    private var position: Int64 = 0
    /// The operations in flight, each with the number of successes when it was sent.
    private var inFlight: [Int64: (row: RowName, successesBefore: Int)] = [:]
    /// The operations that were found and not sent yet, in the order in which to send them. Some wait for one of the
    /// same row.
    private var ready: [Entry] = []
    /// The rows of operations that failed in this push or are held.
    private var blocked: Set<RowName> = []
    /// The rows of deferred operations.
    private var waiting: Set<RowName> = []
    private var serverFailures = 0
    private var successes = 0
    /// The number of operations since the last success for which the server was not available.
    private var unavailableCount = 0
    /// The number of conflicts of each operation that a policy has resolved.
    private var resolutions: [Int64: Int] = [:]
    private var earlier = EarlierFailures()
    /// The remaining deferred operations, newest first, or `nil` while other operations are sent.
    private var deferred: [Int64]?
    /// Whether the search in progress is for a deferred operation.
    private var seeksDeferred = false

    // References.

    /// The operations that wait for another one, by the operation that they wait for.
    private var dependents: [Int64: [Entry]] = [:]
    /// The operation that each waiting operation waits for.
    private var awaited: [Int64: Int64] = [:]
    /// The operations beyond the position of the search that were sent or held back out of order.
    private var broughtForward: Set<Int64> = []
    /// The oldest operation that waits until the deferred operations have been sent.
    private var postponed: Int64?
    /// The number of operations that are not sent because one that they depend on failed or is not sent.
    private(set) var heldBackCount = 0

    init(maxInFlight: Int = 1) { self.maxInFlight = maxInFlight }

    mutating func handle(_ event: Event) {
        switch event {
        case .started(let last, let earlier):
            self.last = last
            self.earlier = earlier
        case .found(nil):
            if !seeksDeferred { position = last }
        case .found(let candidate?):
            consider(candidate)
        case .mustWait(let id, let other):
            wait(id, for: other)
        case .succeeded(let id):
            inFlight[id] = nil
            successes += 1
            unavailableCount = 0
            serverFailures = 0
            release(id)
        case .failed(let id, let isServerFailure):
            if !earlier.deferred.contains(id) { serverFailures = isServerFailure ? serverFailures + 1 : 0 }
            if let row = inFlight.removeValue(forKey: id)?.row { blocked.insert(row) }
            holdBackDependents(of: id)
        case .rebased(let id):
            serverFailures = 0
            resolutions[id, default: 0] += 1
            if let row = inFlight.removeValue(forKey: id)?.row { ready.insert((id, row), at: 0) }
        }
    }

    /// Returns whether a policy may resolve another conflict of the operation.
    func mayResolve(_ id: Int64) -> Bool { resolutions[id, default: 0] < Self.maximumResolutions }

    /// Returns whether an operation for which the server was not available may fail alone, instead of ending the push.
    ///
    /// It may if another operation has succeeded since it was sent, or if it is sent after all others because it has
    /// ended an earlier push in this way, and another one has succeeded or it has ended several pushes. If the server
    /// asks for a pause, only the latter shows that the operation is the reason.
    func mayFailAlone(_ id: Int64, asksForPause: Bool = false) -> Bool {
        if asksForPause { return earlier.unavailable.contains(id) }
        return earlier.deferred.contains(id) && (successes > 0 || earlier.unavailable.contains(id))
            || successes > inFlight[id]?.successesBefore ?? successes
    }

    /// Counts an operation that fails alone. Returns `false` after several since the last success: the server is then
    /// not available for other operations either, and they end the push.
    mutating func countFailingAlone() -> Bool {
        guard unavailableCount < Self.maximumServerFailures - 1 else { return false }
        unavailableCount += 1
        return true
    }

    private mutating func consider(_ candidate: Candidate) {
        let row = candidate.row
        if !seeksDeferred {
            position = candidate.id
            if !broughtForward.isEmpty, broughtForward.contains(candidate.id) {
                if deferred == nil { broughtForward.remove(candidate.id) }
                return
            }
            // Later operations of the row wait until this one has been sent.
            if earlier.held.contains(candidate.id) { blocked.insert(row) }
            if earlier.deferred.contains(candidate.id) { waiting.insert(row) }
            if blocked.contains(row) { return }
            if deferred == nil ? waiting.contains(row) : isKnown(candidate.id) { return }
        }
        ready.append((candidate.id, row))
    }

    /// Returns the next action. The operation of ``Action/send(_:)`` is in flight from then on.
    mutating func next() -> Action {
        if serverFailures >= Self.maximumServerFailures { return .giveUp }
        removeBlocked()
        guard inFlight.count < maxInFlight else { return .wait }
        if let index = ready.firstIndex(where: { entry in !inFlight.values.contains { $0.row == entry.row } }) {
            let (id, row) = ready.remove(at: index)
            inFlight[id] = (row, successes)
            return .send(id)
        }
        guard awaited.count < Self.maximumWaiting || inFlight.isEmpty else { return .wait }
        return search()
    }

    private mutating func removeBlocked() {
        if !dependents.isEmpty {
            for entry in ready where blocked.contains(entry.row) { holdBackDependents(of: entry.id) }
        }
        ready.removeAll { blocked.contains($0.row) }
    }

    /// Returns the next search, or the end of the push.
    ///
    /// The first search is for all operations, without those that are deferred and those that depend on them; the
    /// second for the deferred ones. If there are operations that depend on them, a third search follows.
    private mutating func search() -> Action {
        seeksDeferred = false
        if deferred == nil {
            if position < last { return .find(after: position, upTo: last) }
            deferred = earlier.deferred.filter { $0 <= last }.sorted(by: >)
            broughtForward = []
            if let postponed { position = min(position, postponed - 1) }
        }
        while let next = deferred?.popLast() {
            guard broughtForward.insert(next).inserted else { continue }
            seeksDeferred = true
            return .find(after: next - 1, upTo: next)
        }
        if position < last { return .find(after: position, upTo: last) }
        return inFlight.isEmpty ? .finish : .wait
    }

    // MARK: References

    /// Returns whether an operation waits for another one, directly or through others.
    func isWaiting(_ id: Int64, for other: Int64) -> Bool {
        var next = awaited[id]
        while let id = next {
            if id == other { return true }
            next = awaited[id]
        }
        return false
    }

    /// Whether an operation is in flight, about to be sent, or waits for another one.
    private func isKnown(_ id: Int64) -> Bool {
        inFlight[id] != nil || awaited[id] != nil || ready.contains { $0.id == id }
    }

    private mutating func wait(_ id: Int64, for other: Candidate) {
        guard let row = inFlight.removeValue(forKey: id)?.row else { return }
        if !isKnown(other.id) {
            guard isStillToBeSent(other) else { return holdBack((id, row)) }
            ready.insert((other.id, other.row), at: 0)
            broughtForward.insert(other.id)
        }
        dependents[other.id, default: []].append((id, row))
        awaited[id] = other.id
    }

    /// Returns whether the push has still to find an operation and send it.
    private func isStillToBeSent(_ other: Candidate) -> Bool {
        let row = other.row
        guard !blocked.contains(row), !earlier.held.contains(other.id), !broughtForward.contains(other.id) else {
            return false
        }
        guard deferred != nil else {
            return other.id > position && !earlier.deferred.contains(other.id) && !waiting.contains(row)
        }
        return other.id > position || earlier.deferred.contains(other.id)
    }

    /// Makes the operations that wait for one that succeeded the next ones to send.
    private mutating func release(_ id: Int64) {
        guard !dependents.isEmpty, let released = dependents.removeValue(forKey: id) else { return }
        for entry in released { awaited[entry.id] = nil }
        ready.insert(contentsOf: released, at: 0)
    }

    private mutating func holdBackDependents(of id: Int64) {
        guard !dependents.isEmpty else { return }
        for entry in dependents.removeValue(forKey: id) ?? [] { holdBack(entry) }
    }

    /// Removes an operation from this push, with those that wait for it. While others are deferred, it is considered
    /// again after them.
    private mutating func holdBack(_ entry: Entry) {
        var entries = [entry]
        while let (id, _) = entries.popLast() {
            awaited[id] = nil
            if id > position { broughtForward.insert(id) }
            entries += dependents.removeValue(forKey: id) ?? []
            if deferred == nil, !earlier.deferred.isEmpty {
                postponed = min(postponed ?? id, id)
            } else {
                heldBackCount += 1
            }
        }
    }
}

/// A row by its table and key.
struct RowName: Hashable {
    let table: String
    /// Compared by its bytes.
    let itemKey: RowID

    init(table: String, itemKey: String) { (self.table, self.itemKey) = (table, .string(itemKey)) }
}
