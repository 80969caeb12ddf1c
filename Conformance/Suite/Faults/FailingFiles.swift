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
        var seen = 0
        var failed: [String] = []
    }
    private let state = Mutex(State())

    /// Nothing fails yet.
    init() {}

    /// Begins to count calls, and to let them fail as planned.
    func begin(_ plan: Plan) { state.withLock { $0 = State(plan: plan) } }

    /// Ends that. Returns how many calls counted, and what failed.
    @discardableResult
    func end() -> (seen: Int, failed: [String]) {
        state.withLock { state in
            state.plan = nil
            return (state.seen, state.failed)
        }
    }

    func decide(_ operation: FileOperation) -> FileDecision {
        state.withLock { state in
            let isSync = operation.kind == .sync || operation.kind == .syncDirectory
            let otherwise: FileDecision = isSync ? .skip : .perform
            guard let plan = state.plan, plan.kinds.contains(operation.kind) else { return otherwise }
            state.seen += 1
            guard state.seen >= plan.first, state.seen - plan.first < plan.count else { return otherwise }
            state.failed.append("\(operation)")
            switch plan.failure {
            case .error(let number): return .fail(number)
            case .half: return state.seen == plan.first ? .cut(max(1, operation.length / 2)) : .fail(ENOSPC)
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
