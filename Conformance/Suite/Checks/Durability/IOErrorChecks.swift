internal import Foundation
internal import TidelineStore

extension Check {
    /// File calls that fail with an input/output error.
    static let durabilityErrors: [Check] = [
        Check(
            "DUR-020", "A write that an input/output error stops throws StoreError `io`",
            why: """
                The app must learn that its change is not stored, and may try again. `corrupt` would make it throw its \
                data away, an error of another type would go past all that handles a store's errors.
                """,
            needs: [.faults, .persistence]
        ) { trial in
            try FaultStage(trial).forEachFailure(of: .changes) { _, run in try expectIO(run.errors, trial) }
        },
        Check(
            "DUR-021", "After a write that an input/output error stopped, readers see what there was before it",
            why: """
                The transaction is rolled back in memory, too: in caches, and in what is kept of the file's state. A \
                store that has to be opened again says so with an error.
                """,
            needs: [.faults, .persistence]
        ) { trial in
            try FaultStage(trial).forEachFailure(of: .changes) { store, run in
                guard let found = try readable(store) else { return }
                try trial.expect(found, isOneOf: [run.state], "what is read in the open store")
            }
        },
        Check(
            "DUR-022",
            "After a file call that failed once, the store opened again has every commit that was acknowledged",
            why: """
                A commit that failed leaves a part of itself in a file. What comes after it must neither be hidden behind \
                that, nor be overwritten; and half of it is no commit.
                """,
            needs: [.faults, .survivingDeath]
        ) { trial in
            try FaultStage(trial).forEachFailure(of: .changes, afterwards: { try expectAcknowledged($0, $1, trial) })
        },
        Check(
            "DUR-023", "When every file call fails from some moment on, no commit is lost that was acknowledged before",
            why: "A medium that is pulled out; closing the store cannot tidy up any more.",
            needs: [.faults, .survivingDeath]
        ) { trial in
            let stage = try FaultStage(trial)
            try stage.forEachFailure(
                of: .changesAndSyncs, count: .max, afterwards: { try expectAcknowledged($0, $1, trial) })
        },
        Check(
            "DUR-024", "With full durability, a commit whose sync fails is not acknowledged",
            why:
                "A sync that failed has written nothing for certain; who passes over its result promises what is not so.",
            needs: [.faults, .fullDurability]
        ) { trial in
            try FaultStage(trial).forEachFailure(of: .syncs, count: .max, places: [1]) { _, run in
                let isTold = run.outcome.failed.isEmpty || run.errors.count == run.attempted
                try trial.expect(isTold, "a commit was acknowledged, though no sync succeeds")
            }
        },
        Check(
            "DUR-025", "After a sync that failed once, the store opened again has every commit that was acknowledged",
            why:
                "What the failed sync was for may have to be written again; the next commit must not build on it unseen.",
            needs: [.faults, .survivingDeath]
        ) { trial in
            try FaultStage(trial).forEachFailure(of: .syncs, afterwards: { try expectAcknowledged($0, $1, trial) })
        },
        Check(
            "DUR-026", "A write call that writes only a part of its bytes leaves no half commit",
            why: """
                The system may write less than it was asked to, without an error, and says how much: who does not look \
                takes half a commit for a whole one.
                """,
            needs: [.faults, .survivingDeath]
        ) { trial in
            try FaultStage(trial).forEachFailure(
                of: [.write], count: 2, .half, afterwards: { try expectAcknowledged($0, $1, trial) })
        },
        Check(
            "DUR-027", "A definition that an input/output error stops leaves all of itself or nothing",
            why:
                "A definition makes a table, changes another and fills an index: a failure in between must undo the first.",
            needs: [.faults, .survivingDeath]
        ) { trial in
            let stage = try FaultStage(trial) { $0.evolve() }
            try stage.forEachFailure(of: .changes, afterwards: { try expectAcknowledged($0, $1, trial) })
        },
    ]
}

/// A store may also say that it is closed, or has to wait, once the first commit has failed.
private func expectIO(_ errors: [StoreError], _ trial: Trial) throws {
    for (index, error) in errors.enumerated() {
        let isExpected = error.code == .io || index > 0 && [.closed, .busy].contains(error.code)
        try trial.expect(isExpected, "expected StoreError io, thrown was \(error)")
    }
}

/// What a store holds; nil where it says that it has to be opened again.
private func readable(_ store: any LocalStore) throws -> StoreState? {
    do {
        return try StoreState(of: store)
    } catch let error as StoreError where error.code == .io || error.code == .closed {
        return nil
    }
}

private func expectAcknowledged(_ run: FaultRun, _ found: StoreState, _ trial: Trial) throws {
    try trial.expect(found, isOneOf: run.possible, "the store opened again")
}
