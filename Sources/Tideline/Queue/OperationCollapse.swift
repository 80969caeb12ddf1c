/// The state of the newest operation of a row at the time of a further change.
struct PendingState: Sendable, Hashable {
    var kind: OperationKind
    /// Whether the server may have applied a request of the operation.
    var isAttempted: Bool
    /// Whether the operation is in flight.
    var isInFlight: Bool
}

/// The effect of a further change on the queue.
enum CollapseDecision: Sendable, Hashable {
    /// Add a new operation, after the one in flight if there is one.
    case enqueue(OperationKind, restores: Bool)
    /// Keep the pending operation, which sends the row as it is when it is pushed.
    case keep
    /// Change the kind of the pending operation and keep its base version.
    case change(OperationKind, restores: Bool)
    /// Remove the operation and the row.
    case remove
    /// Do nothing.
    case ignore
    /// Throw an error because the row exists.
    case refuseExisting
    /// Throw an error because the row is deleted.
    case refuseDeleted
}

/// The coalescing table: how a new change is folded into the pending operation of the same row.
enum OperationCollapse {
    /// Returns the effect of a change.
    ///
    /// - Parameters:
    ///   - change: The new change.
    ///   - pending: The newest operation of the row, or `nil` if there is none.
    ///   - rejectsInsertOverPendingDelete: Whether an insert over a pending delete is an error, as in the original SDK,
    ///     instead of a restore.
    static func decide(_ change: OperationKind, onto pending: PendingState?, rejectsInsertOverPendingDelete: Bool)
        -> CollapseDecision
    {
        guard let pending else { return .enqueue(change, restores: false) }
        switch (pending.kind, change) {
        case (.insert, .insert), (.update, .insert): return .refuseExisting
        case (.insert, .update), (.update, .update):
            return pending.isInFlight ? .enqueue(.update, restores: false) : .keep
        case (.insert, .delete):
            if pending.isInFlight { return .enqueue(.delete, restores: false) }
            return pending.isAttempted ? .change(.delete, restores: false) : .remove
        case (.update, .delete):
            return pending.isInFlight ? .enqueue(.delete, restores: false) : .change(.delete, restores: false)
        case (.delete, .insert):
            if rejectsInsertOverPendingDelete { return .refuseDeleted }
            return pending.isInFlight ? .enqueue(.update, restores: true) : .change(.update, restores: true)
        case (.delete, .update): return .refuseDeleted
        case (.delete, .delete): return .ignore
        }
    }
}
