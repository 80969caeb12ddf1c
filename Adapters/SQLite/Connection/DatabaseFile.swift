internal import CSQLite
internal import Foundation
internal import TidelineStore

/// What can be seen and done of a database file without SQLite.
enum DatabaseFile {
    /// The path from the root on.
    static func absolute(_ path: String) throws(StoreError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.io, "the path is empty or has a NUL in it", path: path)
        }
        // A relative path would change its meaning with the current folder, and SQLite gives some a meaning of its own.
        return path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    }

    /// Whether a write-ahead log with content lies beside the file.
    static func hasLog(_ path: String) -> Bool { size("\(file(at: path))-wal") ?? 0 > 0 }

    /// Removes a database and the files that SQLite keeps beside it; the database first, without which a log means nothing.
    static func remove(_ path: String) throws(StoreError) {
        for file in [path, "\(path)-wal", "\(path)-shm", "\(path)-journal"] where unlink(file) != 0 {
            let number = errno
            if number == ENOENT || number == ENOTDIR { continue }
            let code: StoreError.Code = [EACCES, EPERM, EROFS].contains(number) ? .readOnly : .io
            throw StoreError(
                code, "the file cannot be removed: \(String(cString: strerror(number)))", path: file,
                engineCode: Int(number))
        }
    }

    private static func size(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }

    /// The file that a link leads to: its size counts, and the log lies beside it.
    static func file(at path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
}

extension Connection {
    /// Refuses a file that ends within a page. SQLite would read the rest of that page as zeros, without an error.
    ///
    /// Where there is a write-ahead log, a process that was killed may have left the last page unfinished; the log has
    /// the whole of it.
    func requireWholePages() throws(StoreError) {
        guard let path, endsWithinPage, !DatabaseFile.hasLog(path), endsWithinPage else { return }
        throw StoreError(.corrupt, "the file was cut off", path: path)
    }

    /// The first bytes of the file, so many; nil when it has fewer or is no database.
    ///
    /// They are read through SQLite's own handle: closing another one would let go of the locks that all connections of
    /// this process have on the file.
    func header(_ count: Int) -> [UInt8]? {
        var header = [UInt8](repeating: 0, count: count)
        guard tideline_read_file(handle, &header, Int32(count), 0) == SQLITE_OK,
            header.starts(with: "SQLite format 3\0".utf8)
        else { return nil }
        return header
    }

    private var endsWithinPage: Bool {
        var size: Int64 = 0
        // Bytes 16 and 17 of the header hold the size of a page, big-endian, 65,536 as 1. Other files than databases
        // are SQLite's to refuse.
        guard let header = header(18), tideline_file_size(handle, &size) == SQLITE_OK else { return false }
        let pageSize = Int64(header[16]) << 8 | Int64(header[17])
        return size % (pageSize == 1 ? 65_536 : max(512, pageSize)) != 0
    }
}
