internal import Foundation
internal import TidelineStore

/// Checks for the disk space that opening a database needs.
enum DiskRoom {
    static let fileName = "tideline.room"
    private static let chunk = 65_536

    /// Throws ``StoreError/Code/full`` if there is less disk space than the size of the logs plus a small reserve.
    ///
    /// The check writes a file, because the free space that a file system reports is not always available. The file is
    /// removed while it is open, so that nothing remains if the process is killed.
    static func check(in folder: String) throws(StoreError) {
        let path = "\(folder)/\(fileName)"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw .system(errno, path: folder, doing: "the check for disk space failed") }
        unlink(path)
        defer {
            // Frees the space in a way that an observer of file calls sees, too.
            _ = ftruncate(file, 0)
            close(file)
        }
        let zeros = [UInt8](repeating: 0, count: chunk)
        for _ in 0...(try logSize(in: folder) / chunk + 3) {
            let written = write(file, zeros, chunk)
            guard written == chunk else {
                // A partial write has reached the end of the disk space.
                throw .system(written < 0 ? errno : ENOSPC, path: folder, doing: "the check for disk space failed")
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
