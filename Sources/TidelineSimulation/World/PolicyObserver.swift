internal import Synchronization
internal import Tideline
internal import TidelineStore

/// Runs the author's policy, or a random one, and records what it decides.
struct PolicyObserver: SyncContextDelegate {
    let run: WorldRun
    let device: Device
    let policy: (any SyncContextDelegate)?

    func perform(_ operation: PushOperation) async throws -> Row? {
        if let violation = StepContext.current?.pending?
            .violation(by: operation.operation, item: operation.item, on: device)
        {
            run.violated(violation.invariant, violation.message)
        }
        guard let policy else { return try await execute(operation) }
        let item = operation.item
        return try await StepContext.$isPerforming.withValue(true) {
            defer {
                if operation.item != item {
                    run.withOracle {
                        $0.kept(device.index, operation.operation.itemID, in: operation.operation.table, operation.item)
                    }
                }
            }
            return try await policy.perform(operation)
        }
    }

    /// Executes an operation. A conflict policy that restores a row has seen the deleted content, which its decision
    /// does not record.
    private func execute(_ operation: PushOperation) async throws -> Row? {
        do {
            return try await operation.execute()
        } catch let failure as OperationFailure {
            if run.usesPolicies, let row = failure.serverItem, row.isTombstone {
                run.withOracle { $0.sees(device.index, row, in: operation.operation.table) }
            }
            throw failure
        }
    }

    func pushCompleted(_ result: PushResult) async {
        await run.executor.turn()
        let mark = run.withOracle { $0.mark(of: device.index) }
        for error in result.operationErrors {
            run.log("device \(device.index): \(error)")
            run.checkVerdict(of: error, device)
            guard let row = error.serverItem else { continue }
            run.withOracle { $0.sees(device.index, row, in: error.table) }
        }
        let resolution = Resolution(result.operationErrors, of: self, mark: mark)
        await StepContext.$resolution.withValue(resolution) {
            if let policy { return await policy.pushCompleted(result) }
            for error in result.operationErrors where error.code == .conflict { await resolve(error) }
        }
    }

    /// The errors that a call of the policy resolves.
    final class Resolution: Sendable {
        private let errors: [TableOperationError]
        private let observer: PolicyObserver
        /// The mark of the device when the errors were reported.
        private let mark: Int
        /// The operations, as they are stored.
        private let operations: Mutex<[Row?]>

        init(_ errors: [TableOperationError], of observer: PolicyObserver, mark: Int) {
            self.errors = errors
            self.observer = observer
            self.mark = mark
            operations = Mutex(errors.map(observer.operation))
        }

        /// Records what a commit decided, before another task can send it.
        func committed() {
            for (index, error) in errors.enumerated() {
                let operation = observer.operation(of: error)
                let isChanged = operations.withLock { operations in
                    defer { operations[index] = operation }
                    return operations[index] != operation
                }
                if isChanged { observer.note(error, isPending: operation != nil, before: mark) }
            }
        }
    }

    private func operation(of error: TableOperationError) -> Row? {
        try? run.pendingOperation(of: error.itemID, in: error.table, device)
    }

    /// Resolves a conflict as a user could, or leaves it.
    private func resolve(_ error: TableOperationError) async {
        let choice = StepContext.current?.random(in: run.isHealing ? 2..<5 : 0..<5) ?? 4
        // A user decides after a while, and may edit the row in the meantime.
        for _ in 0..<(StepContext.current?.random(in: 0..<24) ?? 0) { await run.executor.turn() }
        var failure: (any Error)?
        do {
            switch choice {
            case 0, 1: return
            case 2: try await error.cancelOperationAndDiscardItem()
            case 3 where error.serverItem?.isTombstone == false:
                if let server = error.serverItem { try await error.cancelOperationAndUpdateItem(server) }
            default:
                if let item = error.item { try await error.keepOperationAndUpdateItem(item) }
            }
        } catch {
            failure = error
        }
        await run.executor.turn()
        if let failure { run.log("device \(device.index): \(failure)") }
    }

    /// Records the outcome of a resolution.
    private func note(_ error: TableOperationError, isPending: Bool, before mark: Int) {
        let row = try? device.row(error.itemID, in: error.table)
        run.log("device \(device.index): the conflict of \(error.itemID) is \(isPending ? "kept" : "dropped")")
        run.withOracle { oracle in
            if isPending {
                oracle.kept(device.index, error.itemID, in: error.table, row)
            } else {
                oracle.dropped(device.index, error.itemID, in: error.table, before: mark)
            }
        }
    }
}
