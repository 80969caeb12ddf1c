internal import Foundation
internal import TidelineStore
internal import TidelineSupport

/// One run of commits on a store of which some file calls fail, and how it went.
struct FaultRun {
    /// What came of the plan.
    private(set) var outcome = FailingFiles.Outcome()
    /// How many commits were tried.
    private(set) var attempted = 0
    /// What the store threw, in order.
    private(set) var errors: [StoreError] = []
    /// What has to be there.
    private(set) var state: StoreState
    /// What may be there when the store is opened again: that, and all of a commit that failed since the last that did
    /// not.
    private(set) var possible: [StoreState]

    init(_ state: StoreState) {
        self.state = state
        possible = [state]
    }

    /// Makes a commit, or notes why not.
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
            throw CheckFailure("a store throws StoreError, thrown was \(type(of: error)): \(error)")
        }
    }

    /// Notes what failed.
    mutating func end(_ files: FailingFiles) { outcome = files.end() }

    /// What went before, for a message.
    var description: String { outcome.description }
}

extension StoreState {
    /// What there is after a commit.
    func applying(_ step: CommitScript.Step) -> StoreState {
        var state = self
        switch step {
        case .define(let tables): for table in tables { state.define(table) }
        case .change(let changes): for change in changes { state.apply(change) }
        }
        return state
    }
}

/// A closed store with some commits, of which copies are put to the test, and the commits that are tried on them.
struct FaultStage {
    /// At most so many places of failure are tried in a round.
    static let maximumPlaces = 24

    let trial: Trial
    private let image: FolderImage
    private let before: StoreState
    private let attempts: [CommitScript.Step]

    /// - Parameter attempts: Adds the commits to try to a script that has some; the first three are made before.
    init(_ trial: Trial, attempts: (inout CommitScript) -> Void = { for _ in 0..<3 { $0.change() } }) throws {
        self.trial = trial
        var script = CommitScript(commits: 3, seed: trial.seed)
        let made = script.steps
        before = script.states[made.count]
        attempts(&script)
        self.attempts = Array(script.steps.dropFirst(made.count))
        let store = try trial.open("made")
        for step in made { try store.perform(step) }
        try store.close()
        image = try FolderImage(reading: trial.folder("made"))
    }

    /// Tries the commits once for every call that can fail, or for some where there are many.
    ///
    /// - Parameters:
    ///   - kinds: Which calls fail.
    ///   - count: How many from the first on.
    ///   - places: The numbers of the first, from 1; by default all, or some where there are many.
    ///   - check: What has to hold while the store is open still, and nothing fails any more.
    func forEachFailure(
        of kinds: Set<FileOperation.Kind>, count: Int = 1, places: [Int]? = nil,
        _ failure: FailingFiles.Plan.Failure = .error(EIO),
        whileOpen check: (any LocalStore, FaultRun) throws -> Void = { _, _ in },
        afterwards: (FaultRun, StoreState) throws -> Void = { _, _ in }
    ) throws {
        var plan = FailingFiles.Plan(kinds: kinds, first: .max, count: count, failure: failure)
        let outcome = try run(plan, check, afterwards).outcome
        try outcome.requireCalls()
        // In a store with threads of its own the calls differ from run to run, and the last may not come.
        for place in places ?? trial.places(in: outcome.counted) {
            plan.first = place
            _ = try run(plan, check, afterwards)
        }
    }

    private func run(
        _ plan: FailingFiles.Plan, _ check: (any LocalStore, FaultRun) throws -> Void,
        _ afterwards: (FaultRun, StoreState) throws -> Void
    ) throws -> FaultRun {
        try trial.withCopy(of: image) { folder in
            var run = FaultRun(before)
            let files = FailingFiles()
            do {
                try trial.observing(folder, by: files) {
                    let store = try trial.harness.open(StoreOpening(directory: folder))
                    defer { try? store.close() }
                    files.begin(plan)
                    for step in attempts { try run.attempt(step, on: store) }
                    run.end(files)
                    try check(store, run)
                }
                try afterwards(run, try trial.state(in: folder))
            } catch let failure as CheckFailure {
                throw CheckFailure("\(run.description): \(failure.message)")
            } catch let error as StoreError {
                throw CheckFailure("\(run.description), and nothing fails any more: \(error)")
            }
            return run
        }
    }
}

extension FailingFiles.Outcome {
    /// Refuses to judge a store of which nothing is seen.
    func requireCalls() throws {
        guard calls > 0 else {
            throw NotDecidable("the store reaches its files in a way that is not seen, such as mapped memory")
        }
    }

    /// What failed, for a message.
    var description: String { failed.first.map { "when \($0) failed" } ?? "when nothing failed" }
}

extension Trial {
    /// Which of so many calls fail: all of them, or where there are many, so many a round.
    func places(in calls: Int) -> [Int] {
        let most = FaultStage.maximumPlaces * rounds
        guard calls > most else { return calls > 0 ? Array(1...calls) : [] }
        var chance = SplitMix64(seed: seed)
        return Array((1...calls).shuffled(using: &chance).prefix(most)).sorted()
    }

    /// What the store in a folder holds.
    func state(in folder: String) throws -> StoreState { try withStore(in: folder) { try StoreState(of: $0) } }

    /// Runs `body` with the store in a folder, without waiting for the disk: nothing goes wrong with it any more.
    func withStore<T>(in folder: String, _ body: (any LocalStore) throws -> T) throws -> T {
        try observing(folder, by: FailingFiles()) {
            let store = try harness.open(StoreOpening(directory: folder))
            defer { try? store.close() }
            return try body(store)
        }
    }

    /// Fails unless a store holds one of these.
    func expect(_ found: StoreState, isOneOf possible: [StoreState], _ what: String) throws {
        let differences = possible.map { $0.difference(in: found) }
        if differences.contains(where: { $0 == nil }) { return }
        throw CheckFailure("\(what): \(differences.compactMap(\.self).first ?? "")")
    }
}
