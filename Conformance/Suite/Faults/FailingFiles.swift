internal import Foundation
internal import Synchronization

/// Makes some file calls of a folder fail, or do less than they should.
final class FailingFiles: FileObserver {
    /// What fails.
    struct Plan: Sendable {
        /// Which calls count.
        var kinds: Set<FileOperation.Kind>
        /// The first that fails, from 1.
        var first: Int
        /// How many fail from there on.
        var count: Int
        /// How one fails.
        var failure: Failure

        enum Failure: Sendable {
            /// With an error number.
            case error(Int32)
            /// After half of its bytes, without an error; the next one with one, as on a disk that is full.
            case half
        }
    }

    private struct State {
        var plan: Plan?
        var outcome = Outcome()
    }

    /// What came of a plan.
    struct Outcome: Sendable {
        /// How many calls of any kind there were.
        var calls = 0
        /// How many of those that count.
        var counted = 0
        /// The calls that failed.
        var failed: [String] = []
    }
    private let state = Mutex(State())

    /// Nothing fails yet.
    init() {}

    /// Begins to count calls, and to let them fail as planned.
    func begin(_ plan: Plan) { state.withLock { $0 = State(plan: plan) } }

    /// Ends that.
    @discardableResult
    func end() -> Outcome {
        state.withLock { state in
            state.plan = nil
            return state.outcome
        }
    }

    func decide(_ operation: FileOperation) -> FileDecision {
        state.withLock { state in
            let isSync = operation.kind == .sync || operation.kind == .syncDirectory
            let otherwise: FileDecision = isSync ? .skip : .perform
            guard let plan = state.plan else { return otherwise }
            state.outcome.calls += 1
            guard plan.kinds.contains(operation.kind) else { return otherwise }
            state.outcome.counted += 1
            let number = state.outcome.counted
            guard number >= plan.first, number - plan.first < plan.count else { return otherwise }
            state.outcome.failed.append("\(operation)")
            switch plan.failure {
            case .error(let number): return .fail(number)
            case .half: return number == plan.first ? .cut(max(1, operation.length / 2)) : .fail(ENOSPC)
            }
        }
    }

    func performed(_ operation: FileOperation) {}
}

extension Set<FileOperation.Kind> {
    /// The calls that change files and their names.
    static let changes: Self = [.create, .write, .resize, .rename, .link, .unlink, .makeDirectory, .removeDirectory]
    /// The calls that wait for the disk.
    static let syncs: Self = [.sync, .syncDirectory]
    /// Both.
    static let changesAndSyncs = changes.union(syncs)
}
