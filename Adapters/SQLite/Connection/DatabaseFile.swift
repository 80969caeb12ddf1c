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
    /// Refuses a file that was cut off. Where it ends within a page, or there is a write-ahead log, SQLite would read what
    /// is missing as zeros, without an error.
    ///
    /// Where there is a log, a process that was killed while it moved pages to the file may have left it too short, or the
    /// last page unfinished; the log has those pages.
    func requireWholeFile() throws(StoreError) {
        guard let path, let extent = extent() else { return }
        let isCutOff =
            DatabaseFile.hasLog(path)
            ? !LogPages(of: path, pageSize: extent.pageSize).contains(extent.missingPages)
            : extent.endsWithinPage
        // Another process may have been at work since: what left the log is in the file by now, or a log is there.
        guard isCutOff, let now = self.extent(), DatabaseFile.hasLog(path) ? now.lacksPages : now.endsWithinPage
        else { return }
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

    /// Throws the first contradiction within the file, such as an index that lacks a row.
    func checkIntegrity() throws(StoreError) {
        let statement = try Statement("PRAGMA integrity_check(1)", on: self)
        guard try statement.step(), let finding = statement.text(0), finding != "ok" else { return }
        throw StoreError(.corrupt, "the file contradicts itself: \(finding)", path: path)
    }

    /// How large the file is and says it is; nil for what is no database, which is SQLite's to refuse.
    private func extent() -> FileExtent? {
        var size: Int64 = 0
        guard let header = header(FileExtent.headerSize), tideline_file_size(handle, &size) == SQLITE_OK else {
            return nil
        }
        return FileExtent(header: header, size: size)
    }
}
