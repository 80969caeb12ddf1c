internal import Logging
internal import TidelineStore

/// One push, which performs the actions that ``PushMachine`` decides on.
///
/// Each operation is sent in a task of its own. The responses that arrive while a transaction runs are stored together
/// in the next one, which also claims the operations to send next.
struct PushRun<Store: LocalStore>: Sendable {
    let pusher: Pusher<Store>
    let delegate: (any SyncContextDelegate)?
    let settings: PushSettings
    /// The lease that other processes respect, or `nil` if no process shares the store.
    let lease: PushLease?
    /// Whether no more requests are sent.
    let isClosing = Flag()
    /// Whether the service has been found to answer.
    let trust = ServiceTrust()
    /// Whether the service has responded to an operation, or to the list of a table.
    let isServiceThere = Flag()
    /// The batches of requests, or `nil` if each is sent alone. An operation of a delegate may wait for another one.
    let batches: RequestBatches?
    /// The connection of this push. It sends nothing after the push has been aborted.
    let connection: ServerConnection

    init(_ pusher: Pusher<Store>, delegate: (any SyncContextDelegate)?, settings: PushSettings) {
        self.pusher = pusher
        self.delegate = delegate
        self.settings = settings
        lease = pusher.database.makePushLease()
        batches = delegate == nil ? pusher.dialect.makeBatches() : nil
        connection = ServerConnection(pusher.connection, batches: batches) { [lease, isClosing] in
            try await Self.confirmRequest(pusher.database, lease, isClosing)
        }
    }

    func run() async -> PushResult {
        var result = PushResult()
        do {
            while try await !send(start(&result), &result) {
                // The other push may be that of a second client in this process, which waits for this delegate.
                guard let lease, settings.whenOtherProcessPushes == .wait, !CallScope.isWithinPush else {
                    throw SyncError.otherProcessPushes
                }
                try await pusher.database.waitForOthers(lease)
                // The queue has changed in the meantime, and perhaps the owner of the store.
                try await pusher.owner.confirmOfQueue()
                result = PushResult()
            }
        } catch {
            result.error = SyncError.wrapping(error)
        }
        result.operationErrors.sort { $0.operationID < $1.operationID }
        result.isServiceThere = isServiceThere.isSet
        return result
    }

    /// Reads the state of the queue. The errors of held operations are reported again.
    private func start(_ result: inout PushResult) async throws -> (PushMachine, PushDependencies?) {
        let (operations, errorStore, definitions) = (pusher.queue.operations, pusher.queue.errors, pusher.definitions)
        let (last, count, records, references) = try await pusher.database.reading { reader in
            (
                try operations.lastID(in: reader), try operations.count(in: reader), try errorStore.all(in: reader),
                try definitions.references(in: reader)
            )
        }
        var earlier = PushMachine.EarlierFailures()
        let policies = pusher.policies.current
        for record in records {
            if record.isHeld(by: settings, policies.policy(for: record.table)) {
                earlier.held.insert(record.operationID)
                if settings.failureRetry == .all {
                    result.operationErrors.append(TableOperationError(record, resolver: pusher.resolver))
                }
            } else if record.failure.code == .serverFailed {
                earlier.deferred.insert(record.operationID)
            }
        }
        let unavailable = pusher.database.clients.unavailable.filter {
            !earlier.held.contains($0.key) && $0.key <= last
        }
        earlier.unavailable = earlier.deferred.union(unavailable.filter { $0.value > 1 }.keys)
        earlier.deferred.formUnion(unavailable.keys)
        result.progress.total = count - earlier.held.count
        var machine = PushMachine(maxInFlight: max(min(settings.maxInFlight, pusher.dialect.maxInFlight), 1))
        machine.handle(.started(last: last, earlier: earlier))
        return (machine, references.map { PushDependencies($0, operations: operations) })
    }

    /// Sends operations until the machine ends the push, or an error does. After an error, no further request is sent,
    /// and the responses to those on their way are still stored. Cancellation also cancels the requests on their way;
    /// what has arrived is stored, and the next push finds out what the server applied.
    ///
    /// - Returns: `false` if another process pushes. Nothing was sent then.
    private func send(
        _ start: (machine: PushMachine, dependencies: PushDependencies?), _ result: inout PushResult
    ) async throws -> Bool {
        var flight = PushFlight(machine: start.machine, isClosing: isClosing)
        let arrivals = ResponseQueue<EndedOperation>()
        // A group that is asked for its results would keep the memory of each task until the push ends.
        await withDiscardingTaskGroup { group in
            repeat {
                await receive(&flight)
                let held = lease?.held
                do {
                    let step = try await advance(
                        flight.ended, flight.machine, start.dependencies,
                        claims: flight.abort == nil && flight.open.isEmpty,
                        isLast: flight.running.isEmpty && flight.open.isEmpty)
                    take(step, &flight, &result)
                    if step.isLost { group.cancelAll() }
                    if held == nil, let lease, !step.claimed.isEmpty { group.addTask { await keepRenewing(lease) } }
                    launch(step.claimed, in: &group, arrivals)
                } catch {
                    lease?.resume(held)
                    await storeEach(&flight, after: error, &result)
                }
                // The operations of a batch are stored together, and the next ones are sent together.
                if !flight.isUnfinished { await batches?.waitUntilIdle() }
                flight.ended = flight.running.isEmpty || flight.isUnfinished ? [] : await arrivals.takeAll()
            } while !flight.isOver
            group.cancelAll()
        }
        pusher.database.clients.inFlight = []
        if let lease, lease.isHeld { _ = try? await pusher.database.writing { try lease.release(in: $0) } }
        result.progress.heldBack = flight.machine.heldBackCount
        logHeldBack(flight.machine.heldBackCount)
        if let abort = flight.abort { throw abort }
        pusher.database.clients.unavailable = [:]
        return !flight.mustWait
    }

    /// Sends operations, each in a task of its own.
    private func launch(
        _ claimed: [ClaimedOperation], in group: inout DiscardingTaskGroup, _ arrivals: ResponseQueue<EndedOperation>
    ) {
        batches?.enter(claimed.count)
        for one in claimed {
            group.addTask {
                await arrivals.append(end(of: one))
                batches?.leave()
            }
        }
    }

    /// Takes the operations that have ended out of those on their way.
    private func receive(_ flight: inout PushFlight) async {
        if Task.isCancelled, flight.abort == nil { flight.abort = SyncError(.cancelled, "the push was cancelled") }
        for one in flight.ended { flight.running.remove(one.id) }
        await separateUnavailable(in: &flight)
        for one in flight.ended {
            let isPause = one.unavailable?.asksForPause == true && flight.isUnreached
            if flight.abort == nil || isPause { flight.abort = one.abort }
        }
    }

    /// Continues with the result of a transaction.
    private func take(_ step: PushStep, _ flight: inout PushFlight, _ result: inout PushResult) {
        flight.machine = report(step, &result)
        flight.isUnfinished = step.isUnfinished
        flight.mustWait = step.mustWait
        if step.givesUp {
            flight.abort = SyncError(
                .serverFailing,
                "\(PushMachine.maximumServerFailures) operations in a row failed on the server; try again later")
        }
        if step.isLost { flight.abort = SyncError.leaseLost }
        for claimed in step.claimed { flight.running.insert(claimed.operation.id) }
    }

    /// Stores the outcomes one by one after a transaction failed and stored nothing. One outcome that the store rejects
    /// must not undo the others.
    private func storeEach(_ flight: inout PushFlight, after error: any Error, _ result: inout PushResult) async {
        pusher.database.clients.inFlight = flight.running.union((flight.ended + flight.open).map { $0.id })
        for one in flight.ended { await storeAlone(one, &flight, &result) }
        flight.abort = flight.abort ?? error
        flight.isUnfinished = false
    }

    /// Lets operations for which alone the server is not available fail, so that they do not end every push. Remembers
    /// those that end this push although the service is there; the next push sends them last. Keeps those about which
    /// others in flight, or others that ended just now, have still to decide.
    ///
    /// An operation that the service did not answer ends the push, unless it was sent in an earlier push, or others
    /// have succeeded since it was sent. Then a list of its table finds out whether the service is there. A long delay
    /// that the server asks for is one for all operations, so it ends the push, unless the operation has ended several.
    private func separateUnavailable(in flight: inout PushFlight) async {
        let ended = flight.ended + flight.open
        (flight.ended, flight.open) = ([], [])
        let isLast = flight.running.isEmpty || flight.abort != nil
        let isDecided = isLast && ended.allSatisfy { $0.unavailable != nil }
        // At most one list finds out about all of them.
        var isThere: Bool?
        for var one in ended {
            if let error = one.unavailable {
                var isAlone = flight.machine.mayFailAlone(one.id, asksForPause: error.asksForPause)
                if !error.isOfService {
                    isAlone = isAlone || flight.isListed || one.claimed.operation.attempts > 0
                    if isAlone, isThere == nil, flight.abort == nil {
                        isThere = await answersList(for: one.claimed, &flight)
                    }
                    isAlone = isAlone && isThere == true
                    flight.isListed = flight.isListed || isAlone
                }
                if isAlone, flight.machine.countFailingAlone() {
                    pusher.database.clients.unavailable[one.id] = nil
                    one.fail(error)
                } else if error.isOfService, !isDecided, error.retryAfter == nil {
                    flight.open.append(one)
                    continue
                } else if isAlone || error.isOfService {
                    pusher.database.clients.unavailable[one.id, default: 0] += 1
                }
            }
            flight.ended.append(one)
        }
    }

    /// Returns whether the service answers a list of the operation's table. An operation that gets no response of the
    /// service then fails alone: the network is up, and the service is there.
    private func answersList(for claimed: ClaimedOperation, _ flight: inout PushFlight) async -> Bool {
        batches?.enter()
        defer { batches?.leave() }
        do {
            try await sender(for: claimed, as: claimed.operation.kind).confirmService()
            isServiceThere.set()
            return true
        } catch {
            if (error as? SyncError)?.asksForPause == true { flight.abort = error }
            return false
        }
    }

    private func logHeldBack(_ count: Int) {
        guard count > 0 else { return }
        let (subject, verb) = count == 1 ? ("1 operation", "was") : ("\(count) operations", "were")
        pusher.options.logger.notice(
            "\(subject) \(verb) held back because of references to rows whose operations failed or were not sent")
    }

    private nonisolated(nonsending) func end(of claimed: ClaimedOperation) async -> EndedOperation {
        do {
            return EndedOperation(claimed: claimed, answer: .success(try await answer(to: claimed)))
        } catch {
            return EndedOperation(claimed: claimed, answer: .failure(error))
        }
    }

    /// Adds what a transaction has stored to the result, and returns the machine as it is afterwards.
    private func report(_ step: PushStep, _ result: inout PushResult) -> PushMachine {
        for record in step.unclaimed {
            result.operationErrors.append(TableOperationError(record, resolver: pusher.resolver))
            result.progress.failed += 1
            settings.onProgress?(result.progress)
        }
        for (ended, end) in step.stored {
            guard case .success(let answer) = ended.answer, let outcome = answer.outcome else { continue }
            if answer.isOfService { isServiceThere.set() }
            // The transaction has recorded the owner of the store.
            pusher.owner.noteRecorded()
            switch end {
            case .rebased: continue
            case .settled: result.progress.resolved += 1
            case .failed(let record):
                result.operationErrors.append(TableOperationError(record, resolver: pusher.resolver))
                result.progress.failed += 1
            case .done:
                guard case .success(let sent) = outcome else {
                    result.progress.failed += 1
                    break
                }
                result.progress.sent += 1
                result.warnings += sent.warnings
                for warning in sent.warnings { pusher.options.logger.warning("\(warning)") }
            }
            settings.onProgress?(result.progress)
        }
        return step.machine
    }

    // MARK: Transactions

    /// Stores the outcomes of operations and claims the next ones, in one transaction.
    ///
    /// After another process has taken the lease, nothing is stored: the operations are in flight there, perhaps, and
    /// their attempts are stored, so that a lost response is recognized.
    /// - Parameter isLast: Whether the push ends unless operations are claimed.
    private func advance(
        _ ended: [EndedOperation], _ machine: PushMachine, _ dependencies: PushDependencies? = nil, claims: Bool,
        isLast: Bool = false
    ) async throws -> PushStep {
        let (pusher, lease) = (pusher, lease)
        return try await pusher.database.writing { writer in
            var step = PushStep(
                machine: machine, epoch: pusher.database.beginPushWrite(try writer.externalCommitNumber()))
            guard try lease?.confirm(in: writer) ?? true else {
                for one in ended { pusher.database.clients.inFlight.remove(one.id) }
                step.isLost = true
                return step
            }
            for one in ended {
                let end = try store(one, at: step.epoch, mayResolve: step.machine.mayResolve(one.id), in: writer)
                pusher.database.clients.inFlight.remove(one.id)
                step.machine.handle(one.event(end))
                step.stored.append((one, end))
            }
            if claims { try claimNext(&step, dependencies, in: writer) }
            if isLast, step.claimed.isEmpty, !step.isUnfinished { try lease?.release(in: writer) }
            return step
        }
    }

    /// Stores the outcome of one operation. If that fails, the operation stays in the queue.
    private func storeAlone(_ ended: EndedOperation, _ flight: inout PushFlight, _ result: inout PushResult) async {
        do {
            flight.machine = report(try await advance([ended], flight.machine, claims: false), &result)
            return
        } catch {
            flight.abort = flight.abort ?? error
        }
        // A second error, from the store, must not hide the first. The operation is in the queue in any case.
        let unknown = EndedOperation(claimed: ended.claimed, answer: .failure(CancellationError()))
        _ = try? await advance([unknown], flight.machine, claims: false)
        pusher.database.clients.inFlight.remove(ended.id)
    }

    /// Stores the outcome of an operation.
    private func store(
        _ ended: EndedOperation, at epoch: UInt64?, mayResolve: Bool, in writer: SyncDatabase<Store>.Writer
    ) throws -> StoredEnd {
        let claimed = ended.claimed
        let outcomes = pusher.outcomes(with: claimed.codec)
        pusher.recentlyPushed.note(
            table: claimed.operation.table, itemKey: claimed.operation.itemKey, base: claimed.base)
        guard case .success(let answer) = ended.answer else {
            if case .failure(is OperationRemoved) = ended.answer { return .done }
            return try outcomes.abandon(claimed.operation, in: writer)
        }
        try pusher.owner.record(in: writer)
        switch answer.outcome {
        case .success(let result):
            var sent = claimed.operation
            sent.kind = answer.kind
            return try outcomes.succeed(
                sent, stored: claimed.stored(at: epoch), snapshot: claimed.snapshot, answer: result,
                mayResolve: mayResolve, in: writer)
        case .failure(let failure):
            return try outcomes.fail(claimed.operation, failure, mayResolve: mayResolve, in: writer)
        case nil:
            return try outcomes.abandon(claimed.operation, in: writer)
        }
    }
}

/// The end of an operation, determined by the delegate or the server.
struct PushAnswer: Sendable {
    /// The outcome, or `nil` if the delegate ended the push before anything was sent.
    var outcome: Result<OperationSender.Result, OperationFailure>?
    /// The kind that was sent, which a delegate may change.
    var kind: OperationKind
    /// Whether the delegate requested the end of the push.
    var cancelsPush = false

    /// Whether the service has responded to the operation, and is available.
    var isOfService: Bool {
        switch outcome {
        case .success?: true
        case .failure(let failure)?: failure.status != nil && !failure.isOfNetwork
        case nil: false
        }
    }
}

/// An operation that is no longer in flight and not stored yet.
struct EndedOperation: Sendable {
    var claimed: ClaimedOperation
    var answer: Result<PushAnswer, any Error>

    var id: Int64 { claimed.operation.id }

    /// The error that ends the push, or `nil` if it may continue.
    var abort: (any Error)? {
        switch answer {
        case .success(let answer):
            answer.cancelsPush ? SyncError(.cancelled, "the push was cancelled by the delegate") : nil
        case .failure(let error): error is OperationRemoved ? nil : error
        }
    }

    /// The error if the server was not reached or not available for the operation, or `nil`.
    var unavailable: SyncError? {
        guard case .failure(let error as SyncError) = answer, error.code == .network else { return nil }
        return error
    }

    /// Makes an error that would end the push the failure of the operation.
    mutating func fail(_ error: SyncError) {
        let failure = OperationFailure(.serverFailed, error.message, status: error.status, cause: error)
        answer = .success(PushAnswer(outcome: .failure(failure), kind: claimed.operation.kind))
    }

    /// Returns the event for the push machine.
    func event(_ end: StoredEnd) -> PushMachine.Event {
        switch end {
        case .rebased: return .rebased(id)
        case .settled: return .succeeded(id)
        case .done, .failed: break
        }
        guard case .success(let answer) = answer, let outcome = answer.outcome else { return .succeeded(id) }
        if case .failure(let failure) = outcome {
            return .failed(id, isServerFailure: failure.code == .serverFailed)
        }
        if case .done = end { return .succeeded(id) }
        return .failed(id, isServerFailure: false)
    }
}

/// The result of a transaction: the outcomes that it stored, and the operations that it claimed.
struct PushStep: Sendable {
    var machine: PushMachine
    /// See ``SyncDatabase/beginPushWrite(_:)``.
    var epoch: UInt64?
    var claimed: [ClaimedOperation] = []
    var stored: [(ended: EndedOperation, end: StoredEnd)] = []
    /// The errors of operations that could not be claimed.
    var unclaimed: [OperationErrorRecord] = []
    /// Whether the machine ends the push because the server fails repeatedly.
    var givesUp = false
    /// Whether the search for operations continues in another transaction.
    var isUnfinished = false
    /// Whether another process pushes, so that nothing was claimed.
    var mustWait = false
    /// Whether another process has taken the lease, so that nothing was stored.
    var isLost = false
}

/// The operations of a push on their way, and those that have ended and are not stored yet.
private struct PushFlight {
    var machine: PushMachine
    let isClosing: Flag
    var running: Set<Int64> = []
    var ended: [EndedOperation] = []
    /// Operations for which the server was not available, while it is open whether others succeed.
    var open: [EndedOperation] = []
    var isUnfinished = false
    var mustWait = false
    /// Whether a list was answered after an operation that the service had not answered.
    var isListed = false
    /// The error that ends the push.
    var abort: (any Error)? { didSet { if abort != nil { isClosing.set() } } }

    /// Whether the push ends because the server was not reached or not available.
    var isUnreached: Bool { (abort as? SyncError)?.code == .network }

    var isOver: Bool { ended.isEmpty && open.isEmpty && !isUnfinished }
}
