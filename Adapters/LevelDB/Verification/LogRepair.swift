internal import Foundation
internal import TidelineStore

/// Truncates logs to the part that may be read again.
enum LogRepair {
    /// Removes commits after the last acknowledged one, and an incomplete commit, from the logs in a folder.
    static func cut(logsIn folder: String, after lastSequence: UInt64) throws(StoreError) {
        for log in try FolderCheck.logs(in: folder) {
            let path = FolderCheck.path(ofLog: log, in: folder)
            // LevelDB may have removed it after a compaction.
            guard access(path, F_OK) == 0 else { continue }
            var reader = try LogReader(path, keeping: LogCommit.headerSize)
            var end = 0
            while let record = try reader.next() {
                if let commit = LogCommit(record), commit.last > lastSequence { break }
                end = record.end
            }
            // Damage is left for the check to report.
            if reader.damage == nil { try cut(path, to: end) }
        }
    }

    /// Truncates a log to `size` bytes if it is longer.
    static func cut(_ path: String, to size: Int) throws(StoreError) {
        guard let file = FileHandle(forUpdatingAtPath: path) else {
            throw .system(errno, path: path, doing: "the log cannot be opened")
        }
        defer { try? file.close() }
        do {
            guard try file.seekToEnd() > UInt64(size) else { return }
            try file.truncate(atOffset: UInt64(size))
            try file.synchronize()
        } catch {
            throw StoreError(.io, "the log cannot be truncated", path: path, cause: error)
        }
    }
}
