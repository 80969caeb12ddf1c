internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// One run of commits on a store with failing file calls, and its results.
struct FaultRun {
    /// The result of the failure plan.
    private(set) var outcome = FailingFiles.Outcome()
    /// The number of attempted commits.
    private(set) var attempted = 0
    /// The errors of the store, in order.
    private(set) var errors: [StoreError] = []
    /// The required state.
    private(set) var state: StoreState
    /// The allowed states after reopening: the required one, and those with commits that failed since the last success.
    private(set) var possible: [StoreState]

    init(_ state: StoreState) {
        self.state = state
        possible = [state]
    }

    /// Makes a commit or records its error.
    mutating func attempt(_ step: CommitScript.Step, on store: some LocalStore) throws {
        let after = state.applying(step)
        attempted += 1
        do {
            try store.perform(step)
            state = after
            possible = [after]
        } catch let error as StoreError {
            errors.append(error)
            possible.append(after)
        } catch {
            throw CheckFailure("expected a StoreError, but got \(type(of: error)): \(error)")
        }
    }

    /// Records the failed calls.
    mutating func end(_ files: FailingFiles) { outcome = files.end() }

    /// A description of the failures for a message.
    var description: String { outcome.description }
}

extension StoreState {
    /// Returns the state after a commit.
    func applying(_ step: CommitScript.Step) -> StoreState {
        var state = self
        switch step {
        case .define(let tables), .redefine(let tables): for table in tables { state.define(table) }
        case .change(let changes): for change in changes { state.apply(change) }
        }
        return state
    }
}

/// A closed store with some commits, copies of which are tested, and the commits attempted on them.
struct FaultStage {
    /// The maximum number of failure positions per round.
    static let maximumPlaces = 24

    let context: CheckContext
    private let image: FolderImage
    private let before: StoreState
    private let attempts: [CommitScript.Step]

    /// - Parameter attempts: Adds the commits to attempt to a script; its first three commits are made beforehand.
    init(_ context: CheckContext, attempts: (inout CommitScript) -> Void = { for _ in 0..<3 { $0.change() } }) throws {
        self.context = context
        var script = CommitScript(commits: 3, seed: context.seed)
        let made = script.steps
        before = script.states[made.count]
        attempts(&script)
        self.attempts = Array(script.steps.dropFirst(made.count))
        let store = try context.open("made")
        for step in made { try store.perform(step) }
        try store.close()
        image = try FolderImage(reading: context.folder("made"))
    }

    /// Attempts the commits once for every call that can fail, or for a sample if there are many.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of calls that fail.
    ///   - count: The number of consecutive failures.
    ///   - places: The numbers of the first failing calls, from 1; by default all, or a sample if there are many.
    ///   - check: Called while the store is still open and calls no longer fail.
    func forEachFailure(
        of kinds: Set<FileOperation.Kind>, count: Int = 1, places: [Int]? = nil,
        _ failure: FailingFiles.Plan.Failure = .error(EIO),
        whileOpen check: (any LocalStore, FaultRun) throws -> Void = { _, _ in },
        afterwards: (FaultRun, StoreState) throws -> Void = { _, _ in }
    ) throws {
        var plan = FailingFiles.Plan(kinds: kinds, first: .max, count: count, failure: failure)
        let outcome = try run(plan, check, afterwards).outcome
        try outcome.requireCalls()
        // If a store has its own threads, the calls differ from run to run, and the last one may not occur.
        for place in places ?? context.places(in: outcome.counted) {
            plan.first = place
            _ = try run(plan, check, afterwards)
        }
    }

    private func run(
        _ plan: FailingFiles.Plan, _ check: (any LocalStore, FaultRun) throws -> Void,
        _ afterwards: (FaultRun, StoreState) throws -> Void
    ) throws -> FaultRun {
        try context.withCopy(of: image) { folder in
            var run = FaultRun(before)
            let files = FailingFiles()
            do {
                try context.observing(folder, by: files) {
                    let store = try context.harness.open(StoreOpening(directory: folder))
                    defer { try? store.close() }
                    files.begin(plan)
                    for step in attempts { try run.attempt(step, on: store) }
                    run.end(files)
                    try check(store, run)
                }
                try afterwards(run, context.state(in: folder))
            } catch let failure as CheckFailure {
                throw CheckFailure("\(run.description): \(failure.message)")
            } catch let error as StoreError {
                throw CheckFailure("\(run.description), and without further failures: \(error)")
            }
            return run
        }
    }
}

extension FailingFiles.Outcome {
    /// Throws if the calls of the store cannot be observed.
    func requireCalls() throws {
        guard calls > 0 else {
            throw NotDecidable("the store changes its files in a way that cannot be observed, such as mapped memory")
        }
    }

    /// The failed call, for a message.
    var description: String { failed.first.map { "when \($0) failed" } ?? "when nothing failed" }
}

extension CheckContext {
    /// Returns the numbers of the calls to fail: all of them, or a sample per round if there are many.
    func places(in calls: Int) -> [Int] {
        let most = FaultStage.maximumPlaces * rounds
        guard calls > most else { return calls > 0 ? Array(1...calls) : [] }
        var chance = SplitMix64(seed: seed)
        return Array((1...calls).shuffled(using: &chance).prefix(most)).sorted()
    }

    /// Returns the state of the store in a directory.
    func state(in folder: String) throws -> StoreState { try withStore(in: folder) { try StoreState(of: $0) } }

    /// Runs `body` with the store in a directory, without waiting for the disk, because no more failures occur.
    func withStore<T>(in folder: String, _ body: (any LocalStore) throws -> T) throws -> T {
        try observing(folder, by: FailingFiles()) {
            let store = try harness.open(StoreOpening(directory: folder))
            defer { try? store.close() }
            return try body(store)
        }
    }

    /// Fails unless a store holds one of these states.
    func expect(_ found: StoreState, isOneOf possible: [StoreState], _ what: String) throws {
        let differences = possible.map { $0.difference(in: found) }
        if differences.contains(where: { $0 == nil }) { return }
        throw CheckFailure("\(what): \(differences.compactMap(\.self).first ?? "")")
    }
}
