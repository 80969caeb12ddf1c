internal import Logging
internal import Synchronization
internal import TidelineStore

/// One push, which performs the actions that ``PushMachine`` decides on.
///
/// Each operation is sent in a task of its own. The responses that arrive while a transaction runs are stored together in
/// the next one, which also claims the operations to send next.
struct PushRun<Store: LocalStore>: Sendable {
    let context: SyncContext<Store>
    let delegate: (any SyncContextDelegate)?
    let settings: PushSettings
    /// Whether no more requests are sent.
    private let isClosing = Flag()

    typealias Claimed = ClaimedOperation<Store>

    /// The end of an operation, determined by the delegate or the server.
    struct Answer: Sendable {
        /// The outcome, or `nil` if the delegate ended the push before anything was sent.
        var outcome: Result<OperationSender.Result, OperationFailure>?
        /// The kind that was sent, which a delegate may change.
        var kind: OperationKind
        /// Whether the delegate requested the end of the push.
        var cancelsPush = false
    }

    /// An operation that is no longer in flight and not stored yet.
    private struct Ended: Sendable {
        var claimed: Claimed
        var answer: Result<Answer, any Error>

        var id: Int64 { claimed.operation.id }

        /// The error that ends the push, or `nil` if it may continue.
        var abort: (any Error)? {
            switch answer {
            case .success(let answer):
                answer.cancelsPush ? SyncError(.cancelled, "the push was cancelled by the delegate") : nil
            case .failure(let error): error is OperationRemoved ? nil : error
            }
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
    private struct Step: Sendable {
        var machine: PushMachine
        var claimed: [Claimed] = []
        var stored: [(ended: Ended, end: StoredEnd)] = []
        /// The errors of operations that could not be claimed.
        var unclaimed: [OperationErrorRecord] = []
        /// Whether the machine ends the push because the server fails repeatedly.
        var givesUp = false
    }

    init(context: SyncContext<Store>, delegate: (any SyncContextDelegate)?, settings: PushSettings) {
        self.context = context
        self.delegate = delegate
        self.settings = settings
    }

    func run() async -> PushResult {
        var result = PushResult()
        do {
            let machine = try await start(&result)
            try await send(machine, &result)
        } catch {
            result.error = context.syncError(error)
        }
        result.operationErrors.sort { $0.operationID < $1.operationID }
        return result
    }

    /// Reads the state of the queue. The errors of held operations are reported again.
    private func start(_ result: inout PushResult) async throws -> PushMachine {
        let (operations, errorStore) = (context.operations, context.errorStore)
        let (last, count, records) = try await context.reading { reader in
            (try operations.lastID(in: reader), try operations.count(in: reader), try errorStore.all(in: reader))
        }
        var earlier = PushMachine.EarlierFailures()
        for record in records {
            if record.isHeld(by: settings, context.options.policy(for: record.table)) {
                earlier.held.insert(record.operationID)
                if settings.failureRetry == .all {
                    result.operationErrors.append(TableOperationError(record, resolver: context))
                }
            } else if record.failure.code == .serverFailed {
                earlier.deferred.insert(record.operationID)
            }
        }
        result.progress.total = count - earlier.held.count
        var machine = PushMachine(maxInFlight: max(settings.maxInFlight, 1))
        machine.handle(.started(last: last, earlier: earlier))
        return machine
    }

    /// Sends operations until the machine ends the push, or an error does. After an error, no further request is sent, and
    /// the responses to those on their way are still stored. Cancellation also cancels the requests on their way; what has
    /// arrived is stored, and the next push finds out what the server applied.
    private func send(_ machine: PushMachine, _ result: inout PushResult) async throws {
        var machine = machine
        var abort: (any Error)? { didSet { if abort != nil { isClosing.set() } } }
        var running: Set<Int64> = []
        let arrivals = Arrivals<Ended>()
        await withTaskGroup(of: Void.self) { group in
            var ended: [Ended] = []
            repeat {
                if Task.isCancelled, abort == nil { abort = SyncError(.cancelled, "the push was cancelled") }
                abort = abort ?? ended.lazy.compactMap(\.abort).first
                running.subtract(ended.map(\.id))
                do {
                    let step = try await advance(ended, machine, claims: abort == nil)
                    machine = report(step, &result)
                    if step.givesUp { abort = Self.serverFailing }
                    for claimed in step.claimed {
                        running.insert(claimed.operation.id)
                        group.addTask { await arrivals.append(end(of: claimed)) }
                    }
                } catch {
                    // Nothing of this transaction was stored. One outcome that the store rejects must not undo the others.
                    context.inFlight = running.union(ended.map(\.id))
                    for one in ended { machine = await storeAlone(one, machine, &result, abort: &abort) }
                    abort = abort ?? error
                }
                ended = running.isEmpty ? [] : await arrivals.takeAll()
            } while !ended.isEmpty
        }
        context.inFlight = []
        if let abort { throw abort }
    }

    private static var serverFailing: SyncError {
        SyncError(
            .serverFailing,
            "\(PushMachine.maximumServerFailures) operations in a row failed on the server; try again later")
    }

    private func end(of claimed: Claimed) async -> Ended {
        do {
            return Ended(claimed: claimed, answer: .success(try await answer(to: claimed)))
        } catch {
            return Ended(claimed: claimed, answer: .failure(error))
        }
    }

    /// Adds what a transaction has stored to the result, and returns the machine as it is afterwards.
    private func report(_ step: Step, _ result: inout PushResult) -> PushMachine {
        for record in step.unclaimed {
            result.operationErrors.append(TableOperationError(record, resolver: context))
            result.progress.failed += 1
            settings.onProgress?(result.progress)
        }
        for (ended, end) in step.stored {
            guard case .success(let answer) = ended.answer, let outcome = answer.outcome else { continue }
            switch end {
            case .rebased: continue
            case .settled: result.progress.resolved += 1
            case .failed(let record):
                result.operationErrors.append(TableOperationError(record, resolver: context))
                result.progress.failed += 1
            case .done:
                guard case .success(let sent) = outcome else {
                    result.progress.failed += 1
                    break
                }
                result.progress.sent += 1
                result.warnings += sent.warnings
                for warning in sent.warnings { context.options.logger.warning("\(warning)") }
            }
            settings.onProgress?(result.progress)
        }
        return step.machine
    }

    // MARK: Transactions

    /// Stores the outcomes of operations and claims the next ones, in one transaction.
    private func advance(_ ended: [Ended], _ machine: PushMachine, claims: Bool) async throws -> Step {
        let context = context
        return try await context.writing { writer in
            var step = Step(machine: machine)
            for one in ended {
                let end = try store(one, mayResolve: step.machine.mayResolve(one.id), in: writer)
                context.inFlight.remove(one.id)
                step.machine.handle(one.event(end))
                step.stored.append((one, end))
            }
            if claims { try claimNext(&step, in: writer) }
            return step
        }
    }

    /// Stores the outcome of one operation. If that fails, the operation stays in the queue.
    private func storeAlone(
        _ ended: Ended, _ machine: PushMachine, _ result: inout PushResult, abort: inout (any Error)?
    ) async -> PushMachine {
        do {
            return report(try await advance([ended], machine, claims: false), &result)
        } catch {
            abort = abort ?? error
        }
        // A second error, from the store, must not hide the first. The operation is in the queue in any case.
        let unknown = Ended(claimed: ended.claimed, answer: .failure(CancellationError()))
        _ = try? await advance([unknown], machine, claims: false)
        context.inFlight.remove(ended.id)
        return machine
    }

    /// Stores the outcome of an operation.
    private func store(_ ended: Ended, mayResolve: Bool, in writer: Store.Writer) throws -> StoredEnd {
        let claimed = ended.claimed
        let outcomes = PushOutcomes(context, codec: claimed.codec)
        context.settled.note(
            table: claimed.operation.table, itemKey: claimed.operation.itemKey, base: claimed.base)
        guard case .success(let answer) = ended.answer else {
            if case .failure(is OperationRemoved) = ended.answer { return .done }
            return try outcomes.abandon(claimed.operation, in: writer)
        }
        try context.recordOwner(in: writer)
        switch answer.outcome {
        case .success(let result):
            var sent = claimed.operation
            sent.kind = answer.kind
            return try outcomes.succeed(
                sent, snapshot: claimed.snapshot, answer: result, mayResolve: mayResolve, in: writer)
        case .failure(let failure):
            return try outcomes.fail(claimed.operation, failure, mayResolve: mayResolve, in: writer)
        case nil:
            return try outcomes.abandon(claimed.operation, in: writer)
        }
    }

    /// Claims operations until the machine has to wait or ends the push.
    private func claimNext(_ step: inout Step, in writer: Store.Writer) throws {
        while true {
            switch step.machine.next() {
            case .find(let after, let last):
                let found = try context.operations.first(after: after, upTo: last, in: writer)
                step.machine.handle(.found(found.map { .init(id: $0.id, table: $0.table, itemKey: $0.itemKey) }))
            case .send(let id):
                do {
                    if let claimed = try claim(id, in: writer) {
                        step.claimed.append(claimed)
                    } else {
                        step.machine.handle(.succeeded(id))
                    }
                } catch let failure as OperationFailure {
                    if let record = try reject(id, failure, in: writer) { step.unclaimed.append(record) }
                    step.machine.handle(.failed(id, isServerFailure: false))
                }
            case .wait, .finish:
                return
            case .giveUp:
                step.givesUp = true
                isClosing.set()
                return
            }
        }
    }

    /// Marks an operation as in flight and reads its row. Returns `nil` if the operation no longer exists.
    private func claim(_ id: Int64, in writer: Store.Writer) throws -> Claimed? {
        guard var operation = try context.operations.operation(id, in: writer) else { return nil }
        guard let schema = try writer.schemaIfDefined(of: operation.table) else {
            throw OperationFailure(
                .invalidItem,
                "the table \(operation.table.debugDescription) is not defined; define it, or cancel the operation")
        }
        let outcomes = PushOutcomes(context, codec: RowCodec(schema: schema))
        guard try outcomes.coalesceOrphan(&operation, in: writer) else { return nil }
        let snapshot = try writer.row(in: operation.table, id: operation.itemID)
        let claimed = Claimed(operation, schema: schema, snapshot: snapshot, context: context)
        // A delegate decides for itself what is sent.
        if delegate == nil, let item = try claimed.item(),
            case .certain(let body)? = try? sender(for: claimed, as: operation.kind).firstRequest(for: item)
        {
            try claimed.announce(body, in: writer)
        }
        context.inFlight.insert(id)
        return claimed
    }

    /// Stores the failure of an operation that could not be claimed.
    private func reject(
        _ id: Int64, _ failure: OperationFailure, in writer: Store.Writer
    ) throws -> OperationErrorRecord? {
        guard let operation = try context.operations.operation(id, in: writer) else { return nil }
        let record = OperationErrorRecord(
            operation, failure: failure, item: nil, time: context.options.environment.now())
        try context.errorStore.save(record, in: writer)
        return record
    }

    /// Returns the sender of an operation. It sends nothing after the push has been aborted.
    func sender(for claimed: Claimed, as kind: OperationKind) -> OperationSender {
        var operation = claimed.operation
        operation.kind = kind
        var connection = context.connection
        connection.willSend = { [isClosing] in
            if isClosing.isSet { throw SyncError(.cancelled, "the push was aborted") }
        }
        return OperationSender(
            connection: connection, dialect: context.dialect, codec: claimed.codec, operation: operation,
            parameters: settings.parameters.map { ($0.name, $0.value) }, journal: claimed)
    }
}

/// A flag that is set once and read from several tasks.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Passes elements from several tasks to one that takes all that have arrived.
private final class Arrivals<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var taker: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func append(_ element: Element) {
        let taker = state.withLock { state in
            state.elements.append(element)
            return state.taker.take()
        }
        taker?.resume()
    }

    /// Returns all elements, as soon as there is at least one.
    func takeAll() async -> [Element] {
        await withCheckedContinuation { continuation in
            let isFilled = state.withLock { state in
                if state.elements.isEmpty { state.taker = continuation }
                return !state.elements.isEmpty
            }
            if isFilled { continuation.resume() }
        }
        return state.withLock { state in
            defer { state.elements = [] }
            return state.elements
        }
    }
}
