internal import CSQLite
internal import Foundation
internal import TidelineStore

/// Operations on a database file that do not use SQLite.
enum DatabaseFile {
    /// Returns whether a nonempty write-ahead log exists for the file.
    static func hasLog(_ path: String) -> Bool { size("\(file(at: path))-wal") ?? 0 > 0 }

    /// Returns whether there is the journal of a process that was killed while it created the store.
    static func hasJournal(_ path: String) -> Bool { size("\(file(at: path))-journal") ?? 0 > 0 }

    /// Returns the name under which a store is removed, so that its log is not taken for one that lost its store.
    static func removed(_ path: String) -> String { "\(file(at: path))-removed" }

    /// Throws an error if there is a log with commits but no file, which SQLite would replace by an empty one.
    static func requireFileOfLog(_ path: String) throws(StoreError) {
        guard hasLog(path), size(file(at: path)) ?? 0 == 0, hasLog(path) else { return }
        throw StoreError(
            .corrupt,
            "the file is missing or empty, but its write-ahead log may contain commits; restore the file, or destroy the store",
            path: path)
    }

    /// Throws an error if the path is that of a folder, which SQLite opens for reading like a file.
    static func requireNoFolder(_ path: String) throws(StoreError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else { return }
        throw StoreError(.io, "the path is a folder", path: path)
    }

    /// Returns the path of the file by which processes tell each other of commits.
    static func signal(_ path: String) -> String { "\(file(at: path))-signal" }

    /// Removes a database and the files next to it that belong to it.
    ///
    /// The database is renamed first and removed last. If the process is killed in between, the next opening or removal
    /// finds it under that name and removes the rest.
    static func remove(_ path: String) throws(StoreError) {
        let removed = removed(path)
        guard rename(path, removed) == 0 || errno == ENOENT || errno == ENOTDIR else {
            throw .system(errno, path: path, doing: "the file cannot be removed")
        }
        for suffix in leftovers where unlink("\(path)\(suffix)") != 0 {
            let number = errno
            if number == ENOENT || number == ENOTDIR { continue }
            throw .system(number, path: "\(path)\(suffix)", doing: "the file cannot be removed")
        }
    }

    /// The suffixes of the files of a store that is being removed, in the order of their removal.
    private static let leftovers = [
        "-wal", "-shm", "-journal", "-signal", "-removed-wal", "-removed-shm", "-removed-journal", "-removed",
    ]

    /// Returns whether there is a file, or a link to one that may be missing.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(file(at: path), &status) == 0
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
        guard let path, !DatabaseFile.hasJournal(path), let extent = extent() else { return }
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
        let statement = try Statement("PRAGMA integrity_check(1)", on: handle, path: path)
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

/// The state of a file, which differs after another process has changed it.
struct FileState: Equatable {
    private let size: Int?
    private let time: Date?
    private let number: Int?
    /// The number of changes of the file, as far as SQLite counts them.
    private let changes: ArraySlice<UInt8>?

    init(of path: String, header: [UInt8]?) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: DatabaseFile.file(at: path))
        size = attributes?[.size] as? Int
        time = attributes?[.modificationDate] as? Date
        number = attributes?[.systemFileNumber] as? Int
        changes = header?[24..<28]
    }
}

/// The actual size of a database file, and the size that its header records.
///
/// See "The Database Header" in https://sqlite.org/fileformat2.html.
struct FileExtent {
    static let headerSize = 100

    let pageSize: Int64
    private let size: Int64
    /// The number of pages in the database at the last checkpoint.
    private let recordedPages: Int64

    init(header: [UInt8], size: Int64) {
        self.size = size
        let stored = Int64(header[16]) << 8 | Int64(header[17])
        pageSize = stored == 1 ? 65_536 : max(512, stored)
        // The count is valid only if it was written by the last change of the file.
        let isValid = header[24..<28] == header[92..<96]
        recordedPages = isValid ? header[28..<32].reduce(0) { $0 << 8 | Int64($1) } : 0
    }

    /// Whether the last page is incomplete.
    var endsWithinPage: Bool { size % pageSize != 0 }

    /// The numbers of the pages that should be in the file but are missing or incomplete.
    var missingPages: Range<Int64> {
        let whole = size / pageSize
        return (whole + 1)..<(max(whole, recordedPages) + 1)
    }

    /// Whether any page is missing or incomplete.
    var lacksPages: Bool { !missingPages.isEmpty }
}

/// The pages of a database that are in its write-ahead log.
///
/// See "The Write-Ahead Log" in https://sqlite.org/fileformat2.html: a header, then frames, each with a header and a
/// page. Leftover frames from an earlier use of the log, after the current ones, have different salts than the log's
/// header.
struct LogPages {
    private static let headerSize = 32
    private static let frameHeaderSize = 24

    private let file: FileHandle?
    private let pageSize: Int64

    /// Opens the log of a database.
    init(of path: String, pageSize: Int64) {
        // Locks are on the database and the shared memory, never on the log, so opening and closing it is safe.
        file = FileHandle(forReadingAtPath: "\(DatabaseFile.file(at: path))-wal")
        self.pageSize = pageSize
    }

    /// Returns whether the log contains all pages with the given numbers.
    func contains(_ pages: Range<Int64>) -> Bool {
        if pages.isEmpty { return true }
        // A damaged file can lack any number of pages. The log has no more than fit into it.
        guard let header = read(Self.headerSize, at: 0), let size = try? file?.seekToEnd(),
            pages.count <= Int64(size) / (Int64(Self.frameHeaderSize) + pageSize)
        else { return false }
        var missing = Set(pages)
        var place = Int64(Self.headerSize)
        while !missing.isEmpty, let frame = read(Self.frameHeaderSize, at: place), frame[8..<16] == header[16..<24] {
            missing.remove(frame[0..<4].reduce(0) { $0 << 8 | Int64($1) })
            place += Int64(Self.frameHeaderSize) + pageSize
        }
        return missing.isEmpty
    }

    private func read(_ count: Int, at place: Int64) -> [UInt8]? {
        guard let file, (try? file.seek(toOffset: UInt64(place))) != nil, let data = try? file.read(upToCount: count),
            data.count == count
        else { return nil }
        return [UInt8](data)
    }
}
