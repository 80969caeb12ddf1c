import TidelineConformance

/// Rejects every change by this process, as a read-only file system or missing permissions do.
struct UnwritableFiles: FileObserver {
    /// The system's error number.
    let error: Int32

    func decide(_ operation: FileOperation) -> FileDecision {
        switch operation.kind {
        case .read, .sync, .syncDirectory: .perform
        case .open where !operation.isForWriting: .perform
        default: .fail(error)
        }
    }

    func performed(_ operation: FileOperation) {}
}
