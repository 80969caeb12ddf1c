internal import Logging
internal import TidelineStore

/// Claims the operations to send next, in the transaction that stores the outcomes of earlier ones.
extension PushRun {
    /// The maximum number of searches in a transaction after the last claim, so that a long queue of operations that
    /// are not sent delays no local edit.
    private static var maximumSearches: Int { 256 }

    /// Claims operations until the machine has to wait or ends the push.
    func claimNext(
        _ step: inout PushStep, _ dependencies: PushDependencies?, in writer: SyncDatabase<Store>.Writer
    ) throws {
        var searches = 0
        // The operation that was found last, unless something has been claimed since then, which may change others.
        var found: TableOperation?
        while true {
            switch step.machine.next() {
            case .find(let after, let last):
                found = try pusher.queue.operations.first(after: after, upTo: last, in: writer)
                step.machine.handle(.found(found.map(PushMachine.Candidate.init)))
                searches += 1
            case .send(let id):
                if let lease, !lease.isHeld, try !lease.take(in: writer) {
                    step.mustWait = true
                    return
                }
                let known = found.take().flatMap { $0.id == id ? $0 : nil }
                try claim(id, known, &step, dependencies, searches: &searches, in: writer)
            case .wait, .finish:
                return
            case .giveUp:
                step.givesUp = true
                isClosing.set()
                return
            }
            if searches >= Self.maximumSearches {
                step.isUnfinished = true
                return
            }
        }
    }

    /// Claims the operation to send, and reports what has become of it to the machine.
    private func claim(
        _ id: Int64, _ known: TableOperation?, _ step: inout PushStep, _ dependencies: PushDependencies?,
        searches: inout Int, in writer: SyncDatabase<Store>.Writer
    ) throws {
        do {
            switch try claim(id, known, step.machine, at: step.epoch, dependencies, in: writer) {
            case .claimed(let claimed):
                step.claimed.append(claimed)
                searches = 0
            case .removed: step.machine.handle(.succeeded(id))
            case .mustWait(let other):
                step.machine.handle(.mustWait(id, for: other))
                searches += 1
            }
        } catch let failure as OperationFailure {
            if let record = try reject(id, failure, in: writer) { step.unclaimed.append(record) }
            step.machine.handle(.failed(id, isServerFailure: false))
        }
    }

    private enum Claim {
        case claimed(ClaimedOperation)
        /// The operation no longer exists.
        case removed
        /// Another operation must succeed before.
        case mustWait(PushMachine.Candidate)
    }

    /// Marks an operation as in flight and reads its row.
    ///
    /// - Parameter known: The operation as it was read in this transaction, or `nil` if it was not.
    private func claim(
        _ id: Int64, _ known: TableOperation?, _ machine: PushMachine, at epoch: UInt64?,
        _ dependencies: PushDependencies?, in writer: SyncDatabase<Store>.Writer
    ) throws -> Claim {
        guard var operation = try known ?? pusher.queue.operations.operation(id, in: writer) else { return .removed }
        guard let schema = try writer.schemaIfDefined(of: operation.table) else {
            throw OperationFailure(
                .invalidItem,
                "the table \(operation.table.debugDescription) is not defined; define it, or cancel the operation")
        }
        let codec = try pusher.codecs.codec(for: schema, in: writer)
        let outcomes = pusher.outcomes(with: codec)
        guard try outcomes.coalesceOrphan(&operation, in: writer) else { return .removed }
        let snapshot = try writer.row(in: operation.table, id: operation.itemID)
        let other = try dependencies?.first(before: operation, snapshot: snapshot, in: writer) {
            machine.isWaiting($0, for: id)
        }
        if let other {
            pusher.options.logger.debug("the \(operation.title) waits for the \(other.title)")
            return .mustWait(PushMachine.Candidate(other))
        }
        let claimed = ClaimedOperation(
            operation, codec: codec, snapshot: snapshot, at: epoch, change: change(of: id))
        // A delegate decides for itself what is sent.
        if delegate == nil, let item = try claimed.item(),
            case .certain(let values)? = try? sender(for: claimed, as: operation.kind).firstRequest(for: item)
        {
            try claimed.announce(values, of: item, with: pusher.queue.operations, in: writer)
        }
        pusher.database.clients.inFlight.insert(id)
        return .claimed(claimed)
    }

    /// Returns a function that changes a stored operation, in a transaction of its own.
    private func change(of id: Int64) -> ClaimedOperation.Change {
        let (database, operations, lease) = (pusher.database, pusher.queue.operations, lease)
        return { change in
            try await database.writing { writer in
                guard try lease?.confirm(in: writer) ?? true else { throw SyncError.leaseLost }
                guard var operation = try operations.operation(id, in: writer), let attempt = try change(&operation)
                else { return nil }
                try operations.save(operation, in: writer)
                return (attempt, operation.sent)
            }
        }
    }

    /// Stores the failure of an operation that could not be claimed.
    private func reject(
        _ id: Int64, _ failure: OperationFailure, in writer: SyncDatabase<Store>.Writer
    ) throws -> OperationErrorRecord? {
        guard var operation = try pusher.queue.operations.operation(id, in: writer) else { return nil }
        operation.lastError = failure.message
        try pusher.queue.operations.save(operation, in: writer)
        let record = OperationErrorRecord(
            operation, failure: failure, item: nil, time: pusher.options.environment.now())
        try pusher.queue.errors.save(record, in: writer)
        return record
    }

    /// Returns the sender of an operation.
    func sender(for claimed: ClaimedOperation, as kind: OperationKind) -> OperationSender {
        var operation = claimed.operation
        operation.kind = kind
        return OperationSender(
            connection: connection, dialect: pusher.dialect, codec: claimed.codec, operation: operation,
            parameters: settings.parameters, trust: trust, journal: claimed,
            policy: pusher.policies.policy(for: operation.table), first: claimed.first)
    }
}

extension PushMachine.Candidate {
    fileprivate init(_ operation: TableOperation) {
        self.init(id: operation.id, table: operation.table, itemKey: operation.itemKey)
    }
}

extension TableOperation {
    /// The operation for the log.
    fileprivate var title: String { "\(kind) of \(itemID.debugDescription) in \(table)" }
}
