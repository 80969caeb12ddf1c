internal import CSQLite
internal import Foundation
internal import TidelineStore

/// Operations on a database file that do not use SQLite.
enum DatabaseFile {
    /// Returns the absolute path.
    static func absolute(_ path: String) throws(StoreError) -> String {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.io, "the path is empty or contains a NUL character", path: path)
        }
        // A relative path would change its meaning with the current folder, and some have a special meaning in SQLite.
        return path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
    }

    /// Returns whether a nonempty write-ahead log exists for the file.
    static func hasLog(_ path: String) -> Bool { size("\(file(at: path))-wal") ?? 0 > 0 }

    /// Removes a database and the files that SQLite keeps next to it. The database goes first, because a log without it
    /// is meaningless.
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

    /// Returns the file that a symbolic link leads to, which has the relevant size and the log next to it.
    static func file(at path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
}

extension Connection {
    /// Throws an error if the file was truncated. If the file ends within a page, or there is a write-ahead log, SQLite
    /// would read the missing bytes as zeros, without an error.
    ///
    /// If there is a log, a process that was killed during a checkpoint may have left the file too short, or the last
    /// page incomplete; in that case, the log contains those pages.
    func requireWholeFile() throws(StoreError) {
        guard let path, let extent = extent() else { return }
        let isCutOff =
            DatabaseFile.hasLog(path)
            ? !LogPages(of: path, pageSize: extent.pageSize).contains(extent.missingPages)
            : extent.endsWithinPage
        // Another process may have run a checkpoint or created a log in the meantime, so check again.
        guard isCutOff, let now = self.extent(), DatabaseFile.hasLog(path) ? now.lacksPages : now.endsWithinPage
        else { return }
        // The log may contain the first page of a store's file.
        guard FileFormat.isNamed(in: handle) || DatabaseFile.hasLog(path) else {
            throw StoreError(
                .notAStore, "the file is an SQLite database of another program, truncated; choose another path",
                path: path)
        }
        throw StoreError(.corrupt, "the file was truncated; restore it from a copy", path: path)
    }

    /// Returns the given number of bytes from the start of the file, or `nil` if the file is shorter or not a database.
    ///
    /// The bytes are read through SQLite's own handle: closing another one would release the locks that all connections
    /// of this process hold on the file.
    func header(_ count: Int) -> [UInt8]? {
        var header = [UInt8](repeating: 0, count: count)
        guard tideline_read_file(handle, &header, Int32(count), 0) == SQLITE_OK,
            header.starts(with: "SQLite format 3\0".utf8)
        else { return nil }
        return header
    }

    /// Throws an error with the first inconsistency found in the file, such as an index that lacks a row.
    func checkIntegrity() throws(StoreError) {
        let statement = try Statement("PRAGMA integrity_check(1)", on: self)
        guard try statement.step(), let finding = statement.text(0), finding != "ok" else { return }
        throw StoreError(.corrupt, "the file is inconsistent: \(finding)", path: path)
    }

    /// Returns the actual size of the file and the size in its header; `nil` if it is not a database, which SQLite
    /// reports.
    private func extent() -> FileExtent? {
        var size: Int64 = 0
        guard let header = header(FileExtent.headerSize), tideline_file_size(handle, &size) == SQLITE_OK else {
            return nil
        }
        return FileExtent(header: header, size: size)
    }
}
