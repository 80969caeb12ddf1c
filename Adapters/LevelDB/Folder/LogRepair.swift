internal import Foundation
internal import TidelineStore

/// Cuts from logs what must not be read again.
enum LogRepair {
    /// Cuts commits later than the last acknowledged one, and the rest of one, from the logs in a folder.
    static func cut(logsIn folder: String, after lastSequence: UInt64) throws(StoreError) {
        for log in try FolderCheck.logs(in: folder) {
            let path = FolderCheck.path(ofLog: log, in: folder)
            var reader = try LogReader(path, keeping: LogCommit.headerSize)
            var end = 0
            while let record = try reader.next() {
                if let commit = LogCommit(record), commit.last > lastSequence { break }
                end = record.end
            }
            // Damage is for the check to tell.
            if reader.damage == nil { try cut(path, to: end) }
        }
    }

    /// Makes a log end at `size`.
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
            throw StoreError(.io, "the log cannot be cut", path: path, cause: error)
        }
    }
}
