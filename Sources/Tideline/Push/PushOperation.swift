internal import Synchronization
public import TidelineStore

/// An operation of a running push, as passed to the delegate.
public final class PushOperation: Sendable {
    /// The operation, with its number, table, row, and kind.
    public let operation: TableOperation

    private struct State {
        var item: Row
        var kind: OperationKind
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

    /// The row to send, or the deleted row for a delete.
    ///
    /// Its `version` is the base version, which the server compares with that of its row. Without a version, the server
    /// does not check for conflicts. The row may be changed before ``execute()``, except for its identifier. An update
    /// sends the columns in which it differs from the base row and, on another version, from the local row.
    public var item: Row {
        get { state.withLock { $0.item } }
        set { state.withLock { $0.item = newValue } }
    }

    /// The kind to send, initially the kind of ``operation``.
    ///
    /// It may be changed before ``execute()``, such as from an insert to an update if the server already has a row with
    /// the identifier.
    public var kind: OperationKind {
        get { state.withLock { $0.kind } }
        set { state.withLock { $0.kind = newValue } }
    }

    /// Sends the operation and returns the server row, or `nil` for a delete.
    ///
    /// It may be called again after a failure, with a changed ``item`` or ``kind``.
    /// - Throws: ``OperationFailure`` if the operation fails; ``SyncError`` if the push cannot continue.
    @discardableResult
    public func execute() async throws -> Row? {
        let (kind, item) = state.withLock { ($0.kind, $0.item) }
        do {
            let result = try await send(kind, item)
            state.withLock { $0.outcome = .success(result) }
            return result.row
        } catch {
            state.withLock { $0.outcome = .failure(error) }
            throw error
        }
    }

    /// Ends the push after this operation and those in flight. Operations that were not sent stay in the queue for the
    /// next push.
    public func cancelPush() { state.withLock { $0.isCancelled = true } }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// The result of the last execution, or `nil` if there was none or it failed.
    var result: OperationSender.Result? { try? state.withLock { $0.outcome }?.get() }
    /// The error of the last execution, or `nil` if it succeeded.
    var failure: (any Error)? {
        if case .failure(let error)? = state.withLock({ $0.outcome }) { return error }
        return nil
    }
}

/// A delegate that takes part in pushes. Every operation is passed to ``perform(_:)``.
public protocol SyncContextDelegate: Sendable {
    /// Performs one operation: changes its item, executes it, or returns a result without executing it.
    ///
    /// The default implementation executes the operation. To resolve conflicts here, catch an ``OperationFailure`` with
    /// code ``OperationFailure/Code/conflict``, change the item (set its `version` to that of the server item), and
    /// execute the operation again. The operation stays in the queue in the meantime, and edits of the row are queued
    /// after it. A conflict that this method throws goes to the table's ``ConflictPolicy``; if that resolves the
    /// conflict, this method is called again to send the result.
    ///
    /// Calls for different rows may overlap, up to ``PushSettings/maxInFlight``; with 1 they never do.
    ///
    /// The method runs within the push. Until it returns, a push, or a pull that would push first, throws
    /// ``SyncError/Code/invalidArgument`` if called from here or from a task started here.
    /// - Returns: The server row, which replaces the local row, also if the operation deletes the row; `nil` for a
    ///   completed delete. If the last execution failed, `nil` stands for that failure, so that an ignored error loses
    ///   no changes.
    /// - Throws: The errors of ``PushOperation/execute()``. Any other error, including a `CancellationError` of the
    ///   delegate, is stored as this operation's failure.
    func perform(_ operation: PushOperation) async throws -> Row?

    /// Called at the end of a push with its result. Errors that the delegate resolves do not make the push throw.
    ///
    /// The push is over, though its call has not returned, so this method may push and pull. Another push may already
    /// have begun. An error whose operation is in flight in that push cannot be resolved until it ends.
    func pushCompleted(_ result: PushResult) async
}

extension SyncContextDelegate {
    public func perform(_ operation: PushOperation) async throws -> Row? { try await operation.execute() }
    public func pushCompleted(_ result: PushResult) async {}
}
