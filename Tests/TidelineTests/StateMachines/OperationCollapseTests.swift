import Testing

@testable import Tideline

/// The coalescing table, cell by cell.
@Suite("Coalescing table")
struct OperationCollapseTests {
    struct Cell: Sendable, CustomTestStringConvertible {
        var pending: PendingState?
        var change: OperationKind
        var expected: CollapseDecision
        var rejectsInsertOverPendingDelete = false

        var testDescription: String {
            let state = pending.map {
                "\($0.kind)\($0.isAttempted ? " attempted" : "")\($0.isInFlight ? " in flight" : "")"
            }
            return "\(state ?? "nothing") + \(change)\(rejectsInsertOverPendingDelete ? " (strict)" : "")"
        }
    }

    static func state(_ kind: OperationKind, attempted: Bool = false, inFlight: Bool = false) -> PendingState {
        PendingState(kind: kind, isAttempted: attempted || inFlight, isInFlight: inFlight)
    }

    static let cells: [Cell] = [
        Cell(pending: nil, change: .insert, expected: .enqueue(.insert, restores: false)),
        Cell(pending: nil, change: .update, expected: .enqueue(.update, restores: false)),
        Cell(pending: nil, change: .delete, expected: .enqueue(.delete, restores: false)),
        Cell(pending: state(.insert), change: .insert, expected: .refuseExisting),
        Cell(pending: state(.insert), change: .update, expected: .keep),
        Cell(pending: state(.insert), change: .delete, expected: .remove),
        Cell(pending: state(.insert, attempted: true), change: .insert, expected: .refuseExisting),
        Cell(pending: state(.insert, attempted: true), change: .update, expected: .keep),
        Cell(pending: state(.insert, attempted: true), change: .delete, expected: .change(.delete, restores: false)),
        Cell(pending: state(.update), change: .insert, expected: .refuseExisting),
        Cell(pending: state(.update), change: .update, expected: .keep),
        Cell(pending: state(.update), change: .delete, expected: .change(.delete, restores: false)),
        Cell(pending: state(.update, attempted: true), change: .update, expected: .keep),
        Cell(pending: state(.update, attempted: true), change: .delete, expected: .change(.delete, restores: false)),
        Cell(pending: state(.delete), change: .insert, expected: .change(.update, restores: true)),
        Cell(pending: state(.delete), change: .insert, expected: .refuseDeleted, rejectsInsertOverPendingDelete: true),
        Cell(pending: state(.delete), change: .update, expected: .refuseDeleted),
        Cell(pending: state(.delete), change: .delete, expected: .ignore),
        Cell(pending: state(.insert, inFlight: true), change: .insert, expected: .refuseExisting),
        Cell(pending: state(.insert, inFlight: true), change: .update, expected: .enqueue(.update, restores: false)),
        Cell(pending: state(.insert, inFlight: true), change: .delete, expected: .enqueue(.delete, restores: false)),
        Cell(pending: state(.update, inFlight: true), change: .insert, expected: .refuseExisting),
        Cell(pending: state(.update, inFlight: true), change: .update, expected: .enqueue(.update, restores: false)),
        Cell(pending: state(.update, inFlight: true), change: .delete, expected: .enqueue(.delete, restores: false)),
        Cell(pending: state(.delete, inFlight: true), change: .insert, expected: .enqueue(.update, restores: true)),
        Cell(
            pending: state(.delete, inFlight: true), change: .insert, expected: .refuseDeleted,
            rejectsInsertOverPendingDelete: true),
        Cell(pending: state(.delete, inFlight: true), change: .update, expected: .refuseDeleted),
        Cell(pending: state(.delete, inFlight: true), change: .delete, expected: .ignore),
    ]

    @Test("a change coalesces with the pending operation of its row", arguments: cells)
    func collapse(_ cell: Cell) {
        #expect(
            OperationCollapse.decide(
                cell.change, onto: cell.pending, rejectsInsertOverPendingDelete: cell.rejectsInsertOverPendingDelete)
                == cell.expected)
    }
}
