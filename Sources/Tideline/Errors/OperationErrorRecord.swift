internal import TidelineStore

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
