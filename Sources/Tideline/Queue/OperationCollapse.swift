/// What is known of the newest operation of a row when a further change comes.
struct PendingState: Sendable, Hashable {
    var kind: OperationKind
    /// Whether the server may have carried out a request of it.
    var isAttempted: Bool
    /// Whether a push has it in hand right now.
    var isInFlight: Bool
}

/// What a further change does to the queue.
enum CollapseDecision: Sendable, Hashable {
    /// A new operation, behind the one in flight if there is one.
    case enqueue(OperationKind, restores: Bool)
    /// The operation stays as it is; it will send the row as it is then.
    case keep
    /// The operation becomes another kind, with its first base version.
    case change(OperationKind, restores: Bool)
    /// The operation goes, and the row with it.
    case remove
    /// There is nothing to do.
    case ignore
    /// The row is there already.
    case refuseExisting
    /// The row is deleted.
    case refuseDeleted
}

/// The collapse table: how a new change joins the pending operation of the same row.
enum OperationCollapse {
    /// Decides what a change does.
    ///
    /// - Parameters:
    ///   - change: The new change.
    ///   - pending: The newest operation of the row, nil when there is none.
    ///   - isStrict: Whether an insert over a pending delete is an error, as in the original SDK, and not a restore.
    static func decide(_ change: OperationKind, onto pending: PendingState?, isStrict: Bool) -> CollapseDecision {
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
            if isStrict { return .refuseDeleted }
            return pending.isInFlight ? .enqueue(.update, restores: true) : .change(.update, restores: true)
        case (.delete, .update): return .refuseDeleted
        case (.delete, .delete): return .ignore
        }
    }
}
