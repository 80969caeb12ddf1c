internal import Synchronization
public import TidelineStore

/// Why one operation of a push failed, and the ways to settle it.
///
/// The operation stays in the queue until one of the resolutions succeeds, or a later push does. Each resolution is
/// compared with the operation first: if the row was edited since, it fails with ``SyncError/Code/operationChanged`` and
/// changes nothing. Row, operation and error record change in one transaction.
public final class TableOperationError: Error, Sendable {
    /// The number of the operation.
    public let operationID: Int64
    /// The table of the row.
    public let table: String
    /// The id of the row.
    public let itemID: String
    /// What the operation does.
    public let kind: OperationKind
    /// What kind of failure this is.
    public let code: OperationFailure.Code
    /// The HTTP status of the answer, nil when the failure is not the server's.
    public let status: Int?
    /// What happened, for a person.
    public let message: String
    /// When the operation failed.
    public let time: Timestamp
    /// The error below; nil when there is none, and for an error that was read from the store after a restart.
    public let cause: (any Error)?
    /// The row as it is in the local table, or was before its delete.
    public let item: Row?
    /// The row as the server has it, if that is known.
    public let serverItem: Row?

    let revision: Int64
    private let resolver: any OperationResolver
    private let handled = Mutex(false)

    init(_ record: OperationErrorRecord, resolver: any OperationResolver) {
        operationID = record.operationID
        table = record.table
        itemID = record.itemID
        kind = record.kind
        code = record.failure.code
        status = record.failure.status
        message = record.failure.message
        time = record.time
        cause = record.failure.cause
        item = record.item
        serverItem = record.failure.serverItem
        revision = record.revision
        self.resolver = resolver
    }

    /// A stand-in for the error of an operation that has not failed, by which it is settled all the same.
    convenience init(waiting operation: TableOperation, resolver: any OperationResolver) {
        let failure = OperationFailure(.waiting, "the operation waits to be pushed")
        self.init(
            OperationErrorRecord(operation, failure: failure, item: operation.item, time: .min), resolver: resolver)
    }

    /// Whether a resolution has succeeded. A push whose errors were all handled ends without an error.
    public var isHandled: Bool { handled.withLock { $0 } }

    /// Drops the operation and the local content. Where the server's copy is known the row shows it, else it is
    /// removed until a pull brings it.
    public func cancelOperationAndDiscardItem() async throws { try await resolve(.discard) }

    /// Drops the operation and stores `item` as the row: the server's row, or a merge that needs no push.
    ///
    /// Where a pull has brought a newer row of the server's than `item` was made from (by its `version`, or else that of
    /// ``serverItem``), the row shows that one, as it would had the pull come after.
    public func cancelOperationAndUpdateItem(_ item: Row) async throws { try await resolve(.update(item)) }

    /// Stores `item` as the row and keeps the operation, which carries the version of `item` or else of
    /// ``serverItem``, so that the next push does not meet the same conflict.
    public func keepOperationAndUpdateItem(_ item: Row) async throws { try await resolve(.keep(item)) }

    /// Turns the operation into another kind, such as an update of a row that is gone into an insert.
    public func modifyOperationType(_ kind: OperationKind) async throws { try await resolve(.modify(kind, nil)) }

    /// Turns the operation into another kind and stores `item` as the row.
    public func modifyOperationType(_ kind: OperationKind, _ item: Row) async throws {
        try await resolve(.modify(kind, item))
    }

    /// Whether this is a conflict with a delete: the server has no row any more.
    public var isRowGone: Bool {
        guard code == .conflict else { return false }
        guard let serverItem else { return status == 404 || status == 410 }
        return serverItem["deleted"]?.bool ?? false
    }

    private func resolve(_ resolution: OperationResolution) async throws {
        try await resolver.resolve(self, by: resolution)
        handled.withLock { $0 = true }
    }
}

extension TableOperationError: CustomStringConvertible {
    public var description: String {
        let http = status.map { ", HTTP \($0)" } ?? ""
        return "\(kind) of \(itemID.debugDescription) in \(table): \(message) [\(code.rawValue)\(http)]"
    }
}

/// A way to settle a failed operation.
enum OperationResolution: Sendable {
    case discard
    case update(Row)
    case keep(Row)
    case modify(OperationKind, Row?)
}

/// What settles failed operations: the sync context, without its store's type.
protocol OperationResolver: Sendable {
    func resolve(_ error: TableOperationError, by resolution: OperationResolution) async throws
}

/// The failure of one operation, as the error table keeps it.
struct OperationErrorRecord: Sendable {
    var operationID: Int64
    var table: String
    var itemID: String
    var kind: OperationKind
    var revision: Int64
    var failure: OperationFailure
    var item: Row?
    var time: Timestamp

    init(_ operation: TableOperation, failure: OperationFailure, item: Row?, time: Timestamp) {
        operationID = operation.id
        table = operation.table
        itemID = operation.itemID
        kind = operation.kind
        revision = operation.revision
        self.failure = failure
        self.item = item
        self.time = time
    }
}
