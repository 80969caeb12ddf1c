internal import Foundation
internal import Synchronization

/// Makes some file calls in a directory fail or complete only in part.
final class FailingFiles: FileObserver {
    /// The calls that fail.
    struct Plan: Sendable {
        /// The kinds of calls that count.
        var kinds: Set<FileOperation.Kind>
        /// The number of the first call that fails, from 1.
        var first: Int
        /// The number of consecutive failures.
        var count: Int
        /// The kind of failure.
        var failure: Failure

        enum Failure: Sendable {
            /// The call fails with an error number.
            case error(Int32)
            /// The call writes half of its bytes without an error, and the next one fails, as on a full disk.
            case half
        }
    }

    private struct State {
        var plan: Plan?
        var outcome = Outcome()
    }

    /// The result of a plan.
    struct Outcome: Sendable {
        /// The number of calls of any kind.
        var calls = 0
        /// The number of calls that counted.
        var counted = 0
        /// The calls that failed.
        var failed: [String] = []
    }
    private let state = Mutex(State())

    /// Creates an observer that does not cause any failures yet.
    init() {}

    /// Starts to count calls and to fail them as planned.
    func begin(_ plan: Plan) { state.withLock { $0 = State(plan: plan) } }

    /// Stops the failures.
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
    /// Calls that change files or wait for the disk.
    static let changesAndSyncs = changes.union(syncs)
}

/// Limits the growth of the files in a directory, as on a disk that becomes full.
final class SmallDisk: FileObserver {
    private let room: Mutex<Int>

    /// Creates a disk with this much free space, in bytes.
    init(room: Int) { self.room = Mutex(room) }

    /// Changes the free space.
    func set(room: Int) { self.room.withLock { $0 = room } }

    func decide(_ operation: FileOperation) -> FileDecision {
        switch operation.kind {
        case .sync, .syncDirectory: .skip
        case .write: decide(growth: operation.offset + operation.length - operation.size)
        case .resize: decide(growth: operation.offset - operation.size)
        case .create, .makeDirectory: decide(growth: 1)
        default: .perform
        }
    }

    private func decide(growth: Int) -> FileDecision {
        room.withLock { growth <= max($0, 0) ? .perform : .fail(ENOSPC) }
    }

    func performed(_ operation: FileOperation) {
        let end =
            switch operation.kind {
            case .write: max(operation.size, operation.offset + operation.length)
            case .resize: operation.offset
            case .unlink: 0
            default: operation.size
            }
        room.withLock { $0 -= end - operation.size }
    }
}

/// Refuses every change of the files in a directory, as a medium that is mounted for reading only.
final class ReadOnlyMedium: FileObserver {
    private let hasOperations = Atomic(false)

    /// Throws ``NotDecidable`` if no operation of the store was observed.
    func requireOperations() throws {
        guard !hasOperations.load(ordering: .relaxed) else { return }
        throw NotDecidable("no file operation of the store is observed")
    }

    func decide(_ operation: FileOperation) -> FileDecision {
        hasOperations.store(true, ordering: .relaxed)
        if Set.changes.contains(operation.kind) || operation.kind == .open && operation.isForWriting {
            return .fail(EROFS)
        }
        return .perform
    }

    func performed(_ operation: FileOperation) {}
}
