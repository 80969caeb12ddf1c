internal import Synchronization
public import TidelineStore

/// One operation of a push in progress, as the delegate sees it.
public final class PushOperation: Sendable {
    /// The operation: its number, table, row, kind.
    public let operation: TableOperation

    private struct State {
        var item: Row
        var kind: OperationKind
        var hasExecuted = false
        var outcome: Result<OperationSender.Result, any Error>?
        var isCancelled = false
    }

    private let state: Mutex<State>
    private let send: @Sendable (OperationKind, Row) async throws -> OperationSender.Result

    init(
        _ operation: TableOperation, item: Row,
        send: @escaping @Sendable (OperationKind, Row) async throws -> OperationSender.Result
    ) {
        self.operation = operation
        state = Mutex(State(item: item, kind: operation.kind))
        self.send = send
    }

    /// The row to send; for a delete, the row as it was. Its `version` goes into `If-Match`; without one the server
    /// does not check. Change it before ``execute()``, but not its identifier.
    public var item: Row {
        get { state.withLock { $0.item } }
        set { state.withLock { $0.item = newValue } }
    }

    /// What the operation does to the row, at first the kind of ``operation``. Change it before ``execute()``, such as an
    /// insert that met a row of the same identifier to an update of that row.
    public var kind: OperationKind {
        get { state.withLock { $0.kind } }
        set { state.withLock { $0.kind = newValue } }
    }

    /// Sends the operation and returns the server's row; nil for a delete.
    ///
    /// May be called again after a failure, with a changed ``item`` or ``kind``.
    /// - Throws: ``OperationFailure`` when the server refuses; ``SyncError`` when the push cannot go on.
    @discardableResult
    public func execute() async throws -> Row? {
        let (kind, item) = state.withLock { state in
            state.hasExecuted = true
            return (state.kind, state.item)
        }
        do {
            let result = try await send(kind, item)
            state.withLock { $0.outcome = .success(result) }
            return result.row
        } catch {
            state.withLock { $0.outcome = .failure(error) }
            throw error
        }
    }

    /// Ends the push after this operation. What was not sent stays in the queue for the next push.
    public func cancelPush() { state.withLock { $0.isCancelled = true } }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var hasExecuted: Bool { state.withLock { $0.hasExecuted } }
    /// The result of the last execution; nil when there was none or it failed.
    var result: OperationSender.Result? { try? state.withLock { $0.outcome }?.get() }
    /// The error of the last execution; nil when that succeeded.
    var failure: (any Error)? {
        if case .failure(let error)? = state.withLock({ $0.outcome }) { return error }
        return nil
    }
}

/// Takes part in pushes: every operation passes ``perform(_:)``.
public protocol SyncContextDelegate: Sendable {
    /// Carries out one operation: changes its item, executes it, or returns a result itself.
    ///
    /// The default executes it. To settle conflicts here, catch the ``OperationFailure`` with code
    /// ``OperationFailure/Code/conflict``, change the item (its `version` to that of the server's item) and execute
    /// again. The operation is still in the queue meanwhile, and edits of the row go into one behind it.
    ///
    /// It runs within the push: a push, or a pull that would push first, called from here is refused with
    /// ``SyncError/Code/invalidArgument``, also in a task started from here, until this returns.
    /// - Returns: The server's row, which the local table takes over, also where the operation deletes the row; nil for a
    ///   delete that was carried out. Nil after an execution that failed is that failure, so that an ignored error loses
    ///   nothing.
    /// - Throws: What ``PushOperation/execute()`` throws; any other error, a `CancellationError` of the delegate's own
    ///   included, is kept as this operation's failure.
    func perform(_ operation: PushOperation) async throws -> Row?

    /// Called at the end of a push with what it did. Errors that the delegate resolves do not make the push fail.
    ///
    /// The push is over by then, though its call has not returned: from here one may push and pull. Another push may
    /// have begun already; an error whose operation that has in flight cannot be resolved until it ends.
    func pushCompleted(_ result: PushResult) async
}

extension SyncContextDelegate {
    public func perform(_ operation: PushOperation) async throws -> Row? { try await operation.execute() }
    public func pushCompleted(_ result: PushResult) async {}
}
