internal import Foundation
internal import TidelineStore

extension Check {
    /// File calls that fail with an I/O error.
    static let durabilityErrors: [Check] = [
        Check(
            "DUR-020", "A write interrupted by an I/O error throws StoreError `io`",
            why: "After `io` an app may retry; after `corrupt` it would discard its data.",
            needs: [.faults, .persistence]
        ) { context in
            try FaultStage(context).forEachFailure(
                of: .changes, whileOpen: { try expectIO($1.errors, context) },
                afterwards: { if $0.errors.isEmpty { try expectAcknowledged($0, $1, context) } })
        },
        Check(
            "DUR-021", "After a write interrupted by an I/O error, readers see the previous state",
            why: "Caches are rolled back, too. A store that must be reopened throws an error that says so.",
            needs: [.faults, .persistence]
        ) { context in
            try FaultStage(context).forEachFailure(of: .changes) { store, run in
                guard let found = try readable(store) else { return }
                try context.expect(found, isOneOf: [run.state], "the data read in the open store")
            }
        },
        Check(
            "DUR-022",
            "After a file call that failed once, the reopened store has every acknowledged commit",
            why: "Later commits must not be hidden behind the rest of a failed one, and that rest must be ignored.",
            needs: [.faults, .survivingDeath]
        ) { context in
            try FaultStage(context).forEachFailure(
                of: .changes, afterwards: { try expectAcknowledged($0, $1, context) })
        },
        Check(
            "DUR-023", "When every file call fails from some point on, no earlier acknowledged commit is lost",
            why: "For example, a medium was removed; closing the store can no longer clean up.",
            needs: [.faults, .survivingDeath]
        ) { context in
            let stage = try FaultStage(context)
            try stage.forEachFailure(
                of: .changesAndSyncs, count: .max, afterwards: { try expectAcknowledged($0, $1, context) })
        },
        Check(
            "DUR-024", "With full durability, a commit whose sync fails is not acknowledged",
            why: "A failed sync guarantees nothing; a store that ignores its result makes a false promise.",
            needs: [.faults, .fullDurability]
        ) { context in
            try FaultStage(context).forEachFailure(of: .syncs, count: .max, places: [1]) { _, run in
                let isTold = run.outcome.failed.isEmpty || run.errors.count == run.attempted
                try context.expect(isTold, "a commit was acknowledged although no sync succeeds")
            }
        },
        Check(
            "DUR-028", "With full durability, a commit whose first sync fails once is not acknowledged",
            why: "After a failed sync, the system may have dropped the data, so the next one succeeds without it.",
            needs: [.faults, .fullDurability]
        ) { context in
            try FaultStage(context).forEachFailure(of: .syncs, places: [1]) { _, run in
                let isTold = run.outcome.failed.isEmpty || !run.errors.isEmpty
                try context.expect(isTold, "a commit was acknowledged although its sync failed")
            }
        },
        Check(
            "DUR-025", "After a sync that failed once, the reopened store has every acknowledged commit",
            why: "The unsynced data may have to be written again; the next commit must not depend on it.",
            needs: [.faults, .survivingDeath]
        ) { context in
            try FaultStage(context).forEachFailure(of: .syncs, afterwards: { try expectAcknowledged($0, $1, context) })
        },
        Check(
            "DUR-026", "A write call that writes only a part of its bytes leaves no partial commit",
            why: "The system may write fewer bytes than requested, without an error, and returns the number.",
            needs: [.faults, .survivingDeath]
        ) { context in
            try FaultStage(context).forEachFailure(
                of: [.write], count: 2, .half, afterwards: { try expectAcknowledged($0, $1, context) })
        },
        Check(
            "DUR-027", "A definition interrupted by an I/O error is applied completely or not at all",
            why: "A definition creates a table, changes another, and builds an index: a failure undoes all of it.",
            needs: [.faults, .survivingDeath]
        ) { context in
            for redefines in [false, true] {
                let part = context.part(in: try context.folder(redefines ? "redefine" : "define"))
                defer { part.end() }
                let stage = try FaultStage(part) { $0.evolve(redefines: redefines) }
                try stage.forEachFailure(of: .changes, afterwards: { try expectAcknowledged($0, $1, part) })
            }
        },
    ]
}

/// A store may also report that it is closed or busy after the first commit has failed.
private func expectIO(_ errors: [StoreError], _ context: CheckContext) throws {
    for (index, error) in errors.enumerated() {
        let isExpected = error.code == .io || index > 0 && [.closed, .busy].contains(error.code)
        try context.expect(isExpected, "expected StoreError io, but got \(error)")
    }
}

/// Returns the state of a store, or `nil` if it reports that it must be reopened.
private func readable(_ store: any LocalStore) throws -> StoreState? {
    do {
        return try StoreState(of: store)
    } catch let error as StoreError where error.code == .io || error.code == .closed {
        return nil
    }
}

private func expectAcknowledged(_ run: FaultRun, _ found: StoreState, _ context: CheckContext) throws {
    try context.expect(found, isOneOf: run.possible, "the store reopened")
}
