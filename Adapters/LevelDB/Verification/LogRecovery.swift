internal import Foundation
internal import TidelineStore

/// Determines whether a power loss damaged the logs of a database, and truncates them to their intact commits.
///
/// Until it is synced, LevelDB's data reaches the disk in any order. With ``StoreCapabilities/Durability/normal``, any
/// sector of a log may read as zeros, whatever follows it; with ``StoreCapabilities/Durability/full``, only sectors of
/// the last commit. The commits before are intact, and the data after is useless without the missing part.
struct LogRecovery {
    let folder: String
    let durability: StoreCapabilities.Durability

    /// Truncates the logs after the last commit before the first missing one, if a power loss can explain the gap.
    ///
    /// Other damage is left for the check to report, as is all damage to logs that were synced when the database was
    /// closed.
    func cut() throws(StoreError) {
        let manifest = try Manifest(in: folder)
        let logs = try FolderCheck.logs(in: folder).filter { $0 >= manifest.firstLog }
        let seal = CleanShutdownMarker(in: folder)
        var last: UInt64?
        for (index, log) in logs.enumerated() {
            guard let end = try endOfWhole(log, &last, manifest, isLast: index == logs.count - 1) else { continue }
            // After a power loss, an old manifest may be current again, and with it a log from before the store was
            // closed.
            guard end >= 0, seal[log] == nil else { return }
            // In reverse order, so that after a second power loss, the first gap is still found.
            for later in logs[(index + 1)...].reversed() { try LogRepair.cut(path(later), to: 0) }
            return try LogRepair.cut(path(log), to: end)
        }
    }

    private func path(_ log: UInt64) -> String { FolderCheck.path(ofLog: log, in: folder) }

    /// Returns the end of the commits of a log that are to be kept; `nil` if that is all of them, negative if the log
    /// has other damage.
    ///
    /// - Parameter last: The number of the last change in the previous logs; set to that of the last change in this
    ///   log.
    private func endOfWhole(
        _ log: UInt64, _ last: inout UInt64?, _ manifest: Manifest, isLast: Bool
    ) throws(StoreError) -> Int? {
        var reader = try LogReader(path(log), keeping: LogCommit.headerSize)
        var end = 0
        while let record = try reader.next() {
            guard let commit = LogCommit(record) else { return -1 }
            let isFirst = log == manifest.firstLog
            guard manifest.admits(commit.first, after: last, isInFirstLog: isFirst) else {
                // The previous log lost its end. A power loss explains neither a gap within a log nor a different first
                // log.
                return durability != .full && end == 0 && !isFirst && commit.first > (last ?? 0) ? 0 : -1
            }
            last = commit.last
            end = record.end
        }
        guard reader.damage != nil else { return nil }
        guard reader.isUnwritten else { return -1 }
        guard durability == .full else { return end }
        guard isLast else { return -1 }
        return try reader.hasCommitBehind() ? -1 : end
    }
}

/// Truncates logs to the part that may be read again.
enum LogRepair {
    /// Removes commits after the last acknowledged one, and an incomplete commit, from the logs in a folder.
    static func cut(logsIn folder: String, after lastSequence: UInt64) throws(StoreError) {
        for log in try FolderCheck.logs(in: folder) {
            let path = FolderCheck.path(ofLog: log, in: folder)
            do throws(StoreError) {
                try cut(log: path, after: lastSequence)
            } catch {
                // While the database is open, LevelDB removes logs after a compaction, at any time.
                guard access(path, F_OK) != 0, errno == ENOENT else { throw error }
            }
        }
    }

    private static func cut(log path: String, after lastSequence: UInt64) throws(StoreError) {
        var reader = try LogReader(path, keeping: LogCommit.headerSize)
        var end = 0
        while let record = try reader.next() {
            if let commit = LogCommit(record), commit.last > lastSequence { break }
            end = record.end
        }
        // Damage is left for the check to report.
        if reader.damage == nil { try cut(path, to: end) }
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
