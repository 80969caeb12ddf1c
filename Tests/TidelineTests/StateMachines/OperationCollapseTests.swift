import Testing

@testable import Tideline

/// The coalescing table, row by row.
@Suite("Coalescing table")
struct OperationCollapseTests {
    static func state(_ kind: OperationKind, attempted: Bool = false, inFlight: Bool = false) -> PendingState {
        PendingState(kind: kind, isAttempted: attempted || inFlight, isInFlight: inFlight)
    }

    static func enqueue(_ kind: OperationKind) -> CollapseDecision { .enqueue(kind, restores: false) }
    static let delete = CollapseDecision.change(.delete, restores: false)

    /// The pending operations, each with the decisions about an insert, an update, and a delete of its row.
    static let rows: [(PendingState?, [CollapseDecision])] = [
        (nil, [enqueue(.insert), enqueue(.update), enqueue(.delete)]),
        (state(.insert), [.refuseExisting, .keep, .remove]),
        (state(.insert, attempted: true), [.refuseExisting, .keep, delete]),
        (state(.insert, inFlight: true), [.refuseExisting, enqueue(.update), enqueue(.delete)]),
        (state(.update), [.refuseExisting, .keep, delete]),
        (state(.update, attempted: true), [.refuseExisting, .keep, delete]),
        (state(.update, inFlight: true), [.refuseExisting, enqueue(.update), enqueue(.delete)]),
        (state(.delete), [.change(.update, restores: true), .refuseDeleted, .ignore]),
        (state(.delete, inFlight: true), [.enqueue(.update, restores: true), .refuseDeleted, .ignore]),
    ]

    @Test("a change coalesces with the pending operation of its row", arguments: rows)
    func collapse(_ pending: PendingState?, _ expected: [CollapseDecision]) {
        let decisions = OperationKind.allCases.map {
            OperationCollapse.decide($0, onto: pending, rejectsInsertOverPendingDelete: false)
        }
        #expect(decisions == expected)
    }

    @Test("strictly, an insert over a pending delete is refused", arguments: [false, true])
    func strict(isInFlight: Bool) {
        let pending = Self.state(.delete, inFlight: isInFlight)
        let decision = OperationCollapse.decide(.insert, onto: pending, rejectsInsertOverPendingDelete: true)
        #expect(decision == .refuseDeleted)
    }
}
