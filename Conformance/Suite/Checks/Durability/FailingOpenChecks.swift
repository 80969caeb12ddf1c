internal import Foundation
internal import TidelineStore

extension Check {
    /// File calls that fail while a store is created, opened, or read.
    static let durabilityOpening: [Check] = [
        Check(
            "DUR-030",
            "An opening interrupted by an I/O error throws StoreError `io`, and the next one finds all rows",
            why: "An interrupted opening must lose nothing; a file that is unreadable for a time is not damaged."
        ) { context in
            try forEachFailingOpening(of: Set(FileOperation.Kind.allCases), in: context, commits: 5)
        },
        Check(
            "DUR-031", "If an I/O error interrupts the creation of a store, the next opening creates it",
            why: "Remains of a failed opening must not block the next one, nor be mistaken for a store."
        ) { context in
            try forEachFailingOpening(of: .changesAndSyncs, in: context, commits: nil)
        },
        Check(
            "DUR-033",
            "If a full disk interrupts the creation of a store, it throws `full` or `io`, and the next opening creates it",
            why: "A file that could not be written completely must not be taken for a store or another program's."
        ) { context in
            var stage = try OpeningStage(context, commits: nil)
            stage.expect(after: [.define([.notes])])
            stage.codes = [.full, .io]
            let growth: Set<FileOperation.Kind> = [.create, .makeDirectory, .write, .resize]
            for (kinds, failure) in [(growth, FailingFiles.Plan.Failure.error(ENOSPC)), ([.write], .half)] {
                let plan = FailingFiles.Plan(kinds: kinds, first: .max, count: .max, failure: failure)
                try stage.forEachFailure(plan) { try $0.define([.notes]) }
            }
        },
        Check(
            "DUR-032", "A failed read call is never mistaken for the end of the data",
            why: "If the error is taken for the end, rows are missing, or an unreadable log is overwritten."
        ) { context in
            let stage = try OpeningStage(context, commits: 20)
            try stage.forEachFailure(of: [.read]) { store in
                let found = try StoreState(of: store)
                try context.expect(found, isOneOf: [stage.state], "the data read without an error")
            }
        },
    ].needing(.faults, .persistence)
}

private func forEachFailingOpening(of kinds: Set<FileOperation.Kind>, in context: CheckContext, commits: Int?) throws {
    let stage = try OpeningStage(context, commits: commits)
    try stage.forEachFailure(of: kinds, count: .max) { store in
        let found = try StoreState(of: store)
        try context.expect(found, isOneOf: [stage.state], "the data read after an opening that did not fail")
    }
}

/// A closed store, copies of which are opened while a call fails, or an empty directory.
private struct OpeningStage {
    let context: CheckContext
    /// The content of the store.
    let state: StoreState
    /// The expected codes of an error.
    var codes: Set<StoreError.Code> = [.io]
    private let image: FolderImage
    /// The possible states after reopening.
    private var possible: [StoreState] { [state] + later }
    private var later: [StoreState] = []

    /// Adds the states after steps that are attempted.
    mutating func expect(after steps: [CommitScript.Step]) {
        for step in steps { later.append((later.last ?? state).applying(step)) }
    }

    init(_ context: CheckContext, commits: Int?) throws {
        self.context = context
        guard let commits else {
            (state, image) = (StoreState(), FolderImage())
            return
        }
        let script = CommitScript(commits: commits, seed: context.seed)
        let store = try context.open("made")
        for step in script.steps { try store.perform(step) }
        try store.close()
        state = script.states[script.steps.count]
        image = try FolderImage(reading: context.folder("made"))
    }

    /// Opens the store and runs `body` for every call that can fail. If either throws, it must be a StoreError that
    /// describes the problem, and the next opening must find all data.
    func forEachFailure(
        of kinds: Set<FileOperation.Kind>, count: Int = 1, _ body: (any LocalStore) throws -> Void
    ) throws {
        let plan = FailingFiles.Plan(kinds: kinds, first: .max, count: count, failure: .error(EIO))
        try forEachFailure(plan, body)
    }

    /// Opens the store and runs `body` once for every call that can fail as planned.
    func forEachFailure(_ plan: FailingFiles.Plan, _ body: (any LocalStore) throws -> Void) throws {
        var plan = plan
        let outcome = try run(plan, body)
        try outcome.requireCalls()
        for place in context.places(in: outcome.counted) {
            plan.first = place
            _ = try run(plan, body)
        }
    }

    private func run(_ plan: FailingFiles.Plan, _ body: (any LocalStore) throws -> Void) throws -> FailingFiles.Outcome
    {
        try context.withCopy(of: image) { folder in
            let files = FailingFiles()
            var error: (any Error)?
            try context.observing(folder, by: files) {
                files.begin(plan)
                do { try open(folder, body) } catch let thrown { error = thrown }
            }
            let outcome = files.end()
            let what = outcome.description
            do {
                try expectCode(error)
                try context.expect(context.state(in: folder), isOneOf: possible, "the store reopened")
            } catch let failure as CheckFailure {
                throw CheckFailure("\(what): \(failure.message)")
            } catch let error as StoreError {
                throw CheckFailure("\(what), and without further failures: \(error)")
            }
            return outcome
        }
    }

    private func open(_ folder: String, _ body: (any LocalStore) throws -> Void) throws {
        let store = try context.harness.open(StoreOpening(directory: folder))
        defer { try? store.close() }
        try body(store)
    }

    private func expectCode(_ error: (any Error)?) throws {
        guard let error else { return }
        guard let thrown = error as? StoreError else { throw error }
        let expected = codes.map(\.rawValue).sorted().joined(separator: " or ")
        try context.expect(codes.contains(thrown.code), "expected StoreError \(expected), but got \(thrown)")
    }
}
