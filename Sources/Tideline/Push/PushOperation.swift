internal import Synchronization
public import TidelineStore

/// One operation of a push in progress, as the delegate sees it.
public final class PushOperation: Sendable {
    /// The operation: its number, table, row, kind.
    public let operation: TableOperation

    private struct State {
        var item: Row
        var hasExecuted = false
        var failure: (any Error)?
        var isCancelled = false
    }

    private let state: Mutex<State>
    private let send: @Sendable (Row) async throws -> Row?

    init(_ operation: TableOperation, item: Row, send: @escaping @Sendable (Row) async throws -> Row?) {
        self.operation = operation
        state = Mutex(State(item: item))
        self.send = send
    }

    /// The row to send; for a delete, the row as it was. Its `version` goes into `If-Match`; without one the server
    /// does not check. Change it before ``execute()``.
    public var item: Row {
        get { state.withLock { $0.item } }
        set { state.withLock { $0.item = newValue } }
    }

    /// Sends the operation and returns the server's row; nil for a delete.
    ///
    /// May be called again after a failure, with a changed ``item``.
    /// - Throws: ``OperationFailure`` when the server refuses; ``SyncError`` when the push cannot go on.
    @discardableResult
    public func execute() async throws -> Row? {
        let item = state.withLock { state in
            state.hasExecuted = true
            return state.item
        }
        do {
            let row = try await send(item)
            state.withLock { $0.failure = nil }
            return row
        } catch {
            state.withLock { $0.failure = error }
            throw error
        }
    }

    /// Ends the push after this operation. What was not sent stays in the queue for the next push.
    public func cancelPush() { state.withLock { $0.isCancelled = true } }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var hasExecuted: Bool { state.withLock { $0.hasExecuted } }
    /// The error of the last execution, nil when that succeeded.
    var failure: (any Error)? { state.withLock { $0.failure } }
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
    /// - Returns: The server's row, which the local table takes over; nil for a delete. Nil after an execution that
    ///   failed is that failure, so that an error passed over loses nothing.
    /// - Throws: What ``PushOperation/execute()`` throws; any other error is kept as this operation's failure.
    func perform(_ operation: PushOperation) async throws -> Row?

    /// Told the errors at the end of a push. Those it resolves do not make the push fail.
    ///
    /// The push is over by then, though its call has not returned: from here one may push and pull. Another push may
    /// have begun already; an error whose operation that has in hand cannot be resolved until it ends.
    func pushCompleted(_ errors: [TableOperationError]) async
}

extension SyncContextDelegate {
    public func perform(_ operation: PushOperation) async throws -> Row? { try await operation.execute() }
    public func pushCompleted(_ errors: [TableOperationError]) async {}
}
