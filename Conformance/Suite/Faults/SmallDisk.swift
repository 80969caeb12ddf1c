internal import Foundation
internal import Synchronization

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
