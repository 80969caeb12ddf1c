internal import Foundation
internal import TidelineStore

extension Check {
    /// File calls that fail while a store is made, opened or read.
    static let durabilityOpening: [Check] = [
        Check(
            "DUR-030",
            "An opening that an input/output error stops throws StoreError `io`, and the next one finds all rows",
            why: """
                An opening repairs, replays and rewrites files. Where that stops half-way, nothing may be lost; and a \
                file that cannot be read now is neither damaged nor missing.
                """,
            needs: [.faults, .persistence]
        ) { trial in
            try forEachFailingOpening(of: Set(FileOperation.Kind.allCases), in: trial, commits: 5)
        },
        Check(
            "DUR-031", "A store whose making an input/output error stopped is made by the next opening",
            why: "What a failed opening leaves half-made must not stop the next one, nor be taken for a store.",
            needs: [.faults, .persistence]
        ) { trial in
            try forEachFailingOpening(of: .changesAndSyncs, in: trial, commits: nil)
        },
        Check(
            "DUR-032", "A read call that fails is never taken for the end of the data",
            why: """
                An error while reading must be thrown. Who stops there as at the end gives fewer rows than there are, \
                or begins anew over a log that it could not read.
                """,
            needs: [.faults, .persistence]
        ) { trial in
            let stage = try OpeningStage(trial, commits: 20)
            try stage.forEachFailure(of: [.read]) { store in
                let found = try StoreState(of: store)
                try trial.expect(found, isOneOf: [stage.state], "what is read without an error")
            }
        },
    ]
}

private func forEachFailingOpening(of kinds: Set<FileOperation.Kind>, in trial: Trial, commits: Int?) throws {
    let stage = try OpeningStage(trial, commits: commits)
    try stage.forEachFailure(of: kinds, count: .max) { store in
        let found = try StoreState(of: store)
        try trial.expect(found, isOneOf: [stage.state], "what is read after an opening that did not fail")
    }
}

/// A closed store of which copies are opened while a call fails; or an empty folder.
private struct OpeningStage {
    let trial: Trial
    /// What it holds.
    let state: StoreState
    private let image: FolderImage

    init(_ trial: Trial, commits: Int?) throws {
        self.trial = trial
        guard let commits else {
            (state, image) = (StoreState(), FolderImage())
            return
        }
        let script = CommitScript(commits: commits, seed: trial.seed)
        let store = try trial.open("made")
        for step in script.steps { try store.perform(step) }
        try store.close()
        state = script.states[script.steps.count]
        image = try FolderImage(reading: trial.folder("made"))
    }

    /// Opens the store and runs `body`, once for every call that can fail meanwhile.
    ///
    /// Where either throws, it has to be a StoreError that says why; and the next opening has to find everything.
    func forEachFailure(
        of kinds: Set<FileOperation.Kind>, count: Int = 1, _ body: (any LocalStore) throws -> Void
    ) throws {
        var plan = FailingFiles.Plan(kinds: kinds, first: .max, count: count, failure: .error(EIO))
        let outcome = try run(plan, body)
        try outcome.requireCalls()
        for place in trial.places(in: outcome.counted) {
            plan.first = place
            _ = try run(plan, body)
        }
    }

    private func run(_ plan: FailingFiles.Plan, _ body: (any LocalStore) throws -> Void) throws -> FailingFiles.Outcome
    {
        try trial.withCopy(of: image) { folder in
            let files = FailingFiles()
            var error: (any Error)?
            try trial.observing(folder, by: files) {
                files.begin(plan)
                do { try open(folder, body) } catch let thrown { error = thrown }
            }
            let outcome = files.end()
            let what = outcome.description
            do {
                try expectIO(error)
                try trial.expect(trial.state(in: folder), isOneOf: [state], "the store opened again")
            } catch let failure as CheckFailure {
                throw CheckFailure("\(what): \(failure.message)")
            } catch let error as StoreError {
                throw CheckFailure("\(what), and nothing fails any more: \(error)")
            }
            return outcome
        }
    }

    private func open(_ folder: String, _ body: (any LocalStore) throws -> Void) throws {
        let store = try trial.harness.open(StoreOpening(directory: folder))
        defer { try? store.close() }
        try body(store)
    }

    private func expectIO(_ error: (any Error)?) throws {
        guard let error else { return }
        guard let thrown = error as? StoreError else { throw error }
        try trial.expect(thrown.code == .io, "expected StoreError io, thrown was \(thrown)")
    }
}
