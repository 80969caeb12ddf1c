internal import TidelineStore

/// Finds out whether a loss of power damaged the logs of a database, and makes them whole again.
///
/// What LevelDB writes goes to the disk in any order until it is synced: with ``StoreCapabilities/Durability/normal``
/// any sector of a log may read zero, whatever comes after it; with ``StoreCapabilities/Durability/full`` those of the
/// last commit only. The commits before are whole, and what comes after is of no use without what is missing.
struct LogRecovery {
    let folder: String
    let durability: StoreCapabilities.Durability

    /// Cuts the logs behind the last commit before the first one that is missing, if a loss of power can have taken it.
    ///
    /// Other damage stays, for the check to tell; so does all damage to logs that were synced when the database was
    /// closed.
    func cut() throws(StoreError) {
        let manifest = try Manifest(in: folder)
        let logs = try FolderCheck.logs(in: folder).filter { $0 >= manifest.firstLog }
        let seal = LogSeal(in: folder)
        var last: UInt64?
        for (index, log) in logs.enumerated() {
            guard let end = try endOfWhole(log, &last, manifest, isLast: index == logs.count - 1) else { continue }
            // After a loss of power an old manifest may count again, and with it a log of before the store was closed.
            guard end >= 0, seal[log] == nil else { return }
            // From behind, so that a second loss of power in between leaves the first one to be found.
            for later in logs[(index + 1)...].reversed() { try LogRepair.cut(path(later), to: 0) }
            return try LogRepair.cut(path(log), to: end)
        }
    }

    private func path(_ log: UInt64) -> String { FolderCheck.path(ofLog: log, in: folder) }

    /// Where the commits of a log end that are to stay; nil when all are, negative when it has other damage.
    ///
    /// - Parameter last: The number of the last change in the logs before, then of the last in this one.
    private func endOfWhole(
        _ log: UInt64, _ last: inout UInt64?, _ manifest: Manifest, isLast: Bool
    ) throws(StoreError) -> Int? {
        var reader = try LogReader(path(log), keeping: LogCommit.headerSize)
        var end = 0
        while let record = try reader.next() {
            guard let commit = LogCommit(record) else { return -1 }
            let isFirst = log == manifest.firstLog
            guard manifest.admits(commit.first, after: last, isInFirstLog: isFirst) else {
                // The log before lost its end; a gap within one is no loss of power's, nor is another first log.
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
