internal import Synchronization
public import TidelineStore

/// The failure of one operation of a push, with the methods that resolve it.
///
/// The operation stays in the queue until a resolution or a later push succeeds. Each resolution first checks that the
/// row has not changed since the error occurred. If it has, the resolution throws ``SyncError/Code/operationChanged``
/// and changes nothing. While another process that shares the store has the operation in flight, it throws
/// ``SyncError/Code/operationInFlight``. Row, operation, and error record change in one transaction.
public final class TableOperationError: Error, Sendable {
    /// The number of the operation.
    public var operationID: Int64 { record.operationID }
    /// The table of the row.
    public var table: String { record.table }
    /// The identifier of the row.
    public var itemID: String { record.itemID }
    /// The kind of the operation.
    public var kind: OperationKind { record.kind }
    /// The kind of the failure.
    public var code: OperationFailure.Code { record.failure.code }
    /// The HTTP status of the response, or `nil` if the failure did not come from the server.
    public var status: Int? { record.failure.status }
    /// A description of the failure.
    public var message: String { record.failure.message }
    /// The time of the failure.
    public var time: Timestamp { record.time }
    /// The underlying error. It is `nil` if there is none, and for an error that was read from the store: one of
    /// ``SyncContext/operationErrors()``, or of an earlier push that is reported again.
    public var cause: (any Error)? { record.failure.cause }
    /// The row in the local table, or the deleted row for a delete.
    public var item: Row? { record.item }
    /// The server row, if known.
    public var serverItem: Row? { record.failure.serverItem }

    let record: OperationErrorRecord
    private let resolver: any OperationResolver
    private let handled = Mutex(false)

    init(_ record: OperationErrorRecord, resolver: any OperationResolver) {
        self.record = record
        self.resolver = resolver
    }

    /// Whether a resolution has succeeded. A push whose errors are all handled does not throw.
    public var isHandled: Bool { handled.withLock { $0 } }

    /// Removes the operation and discards the local changes.
    ///
    /// If the server row is known, it becomes the local row; otherwise, and if it does not fit the table, the base row
    /// does. If there is neither, or the server has deleted the row, the local row is removed. If the server does not
    /// show the row and has no tombstone, the next pull with a query id requests it once more.
    public nonisolated(nonsending) func cancelOperationAndDiscardItem() async throws { try await resolve(.discard) }

    /// Removes the operation and stores `item` as the local row.
    ///
    /// Use it for the server row, or for a merge that does not need to be pushed. If a pull has received a newer server
    /// row than the one `item` is based on (by its `version`, or by the `version` of ``serverItem``), the local row
    /// becomes that newer row.
    public nonisolated(nonsending) func cancelOperationAndUpdateItem(_ item: Row) async throws {
        try await resolve(.update(item))
    }

    /// Stores `item` as the local row and keeps the operation.
    ///
    /// The base version of the operation becomes that of ``serverItem``, so that the next push does not cause the same
    /// conflict; or the version of `item`, if that is neither the base version nor the version of ``item``, because the
    /// app has read a newer row then.
    public nonisolated(nonsending) func keepOperationAndUpdateItem(_ item: Row) async throws {
        try await resolve(.keep(item))
    }

    /// Changes the kind of the operation, such as from an update of a row that the server no longer has to an insert.
    public func modifyOperationType(_ kind: OperationKind) async throws { try await resolve(.modify(kind, nil)) }

    /// Changes the kind of the operation and stores `item` as the local row.
    public func modifyOperationType(_ kind: OperationKind, item: Row) async throws {
        try await resolve(.modify(kind, item))
    }

    /// Whether this is a conflict with a delete: the server no longer has the row.
    public var isRowGone: Bool { record.isRowGone }

    private nonisolated(nonsending) func resolve(_ resolution: OperationResolution) async throws {
        try await resolver.resolve(self, by: resolution)
        handled.withLock { $0 = true }
    }
}

extension TableOperationError: CustomStringConvertible {
    public var description: String {
        "\(kind) of \(itemID.debugDescription) in \(table): \(record.failure)"
    }
}

/// A way to resolve a failed operation.
enum OperationResolution: Sendable {
    case discard
    case update(Row)
    case keep(Row)
    case modify(OperationKind, Row?)
}

/// Resolves failed operations. The sync context conforms, so that errors do not depend on the type of its store.
protocol OperationResolver: Sendable {
    nonisolated(nonsending) func resolve(_ error: TableOperationError, by resolution: OperationResolution) async throws
}

/// The kind of change that an operation makes to its row.
public enum OperationKind: Int64, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case insert = 0
    case update = 1
    case delete = 2

    public var description: String {
        switch self {
        case .insert: "insert"
        case .update: "update"
        case .delete: "delete"
        }
    }
}

/// The failure of one operation, as stored in the error table.
struct OperationErrorRecord: Sendable {
    var operationID: Int64
    var table: String
    var itemID: String
    var kind: OperationKind
    var revision: Int64
    /// The attempts of the operation when it failed. A greater number means that it was attempted again.
    var attempts: Int64
    var failure: OperationFailure
    var item: Row?
    var time: Timestamp

    /// Whether this is a conflict with a delete: the server no longer has the row.
    var isRowGone: Bool { failure.isConflict && failure.isRowGone }
}
