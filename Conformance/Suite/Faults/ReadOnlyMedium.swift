internal import Foundation

/// Refuses every change of the files in a directory, as a medium that is mounted for reading only.
struct ReadOnlyMedium: FileObserver {
    func decide(_ operation: FileOperation) -> FileDecision {
        if Set.changes.contains(operation.kind) || operation.kind == .open && operation.isForWriting {
            return .fail(EROFS)
        }
        return .perform
    }

    func performed(_ operation: FileOperation) {}
}
