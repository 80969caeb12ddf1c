internal import Foundation
internal import Synchronization

/// Records all changes to the files in a directory.
///
/// Syncs are only recorded, not performed, so that many commits take little time.
final class FileRecorder: FileObserver {
    private let directory: String
    private let content: Mutex<FileLog>

    /// Creates a recorder for a directory, which may already contain files.
    init(_ directory: String) throws {
        self.directory = directory
        let image = try FolderImage(reading: directory)
        content = Mutex(FileLog(image) { FileRecorder.number(of: "\(directory)/\($0)") })
    }

    private static func number(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    }

    /// The changes so far.
    var log: FileLog { content.withLock { $0 } }

    /// Marks the current point.
    func mark() { content.withLock { $0.mark() } }

    func decide(_ operation: FileOperation) -> FileDecision {
        operation.kind == .sync || operation.kind == .syncDirectory ? .skip : .perform
    }

    func performed(_ operation: FileOperation) {
        let directory = directory
        content.withLock { log in
            log.add(operation) { FileManager.default.contents(atPath: "\(directory)/\($0)").map { [UInt8]($0) } }
        }
    }
}
