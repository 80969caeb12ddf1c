internal import Foundation
internal import Synchronization

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
