internal import Foundation
internal import TidelineStore

/// Whether a folder has room for what opening its database writes.
enum DiskRoom {
    private static let chunk = 65_536

    /// Throws ``StoreError/Code/full`` when there is not as much room as the logs take and a little more.
    ///
    /// It writes a file and removes it: what a file system says is free is not always to be had.
    static func check(in folder: String) throws(StoreError) {
        let path = "\(folder)/tideline.room"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw .system(errno, path: folder, doing: "making sure of room failed") }
        defer {
            close(file)
            unlink(path)
        }
        let zeros = [UInt8](repeating: 0, count: chunk)
        for _ in 0...(try logSize(in: folder) / chunk + 3) {
            let written = write(file, zeros, chunk)
            guard written == chunk else {
                // A write that stops half-way has met the end of the room.
                throw .system(written < 0 ? errno : ENOSPC, path: folder, doing: "making sure of room failed")
            }
        }
    }

    private static func logSize(in folder: String) throws(StoreError) -> Int {
        try FolderCheck.logs(in: folder).reduce(0) { sum, log in
            let path = FolderCheck.path(ofLog: log, in: folder)
            return sum + ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0)
        }
    }
}
