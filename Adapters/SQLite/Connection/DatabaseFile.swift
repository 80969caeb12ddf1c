internal import Foundation
internal import TidelineStore

/// What can be seen of a database file without SQLite.
enum DatabaseFile {
    /// Refuses a file that ends within a page. SQLite would read the rest of that page as zeros, without an error.
    ///
    /// Where there is a write-ahead log, a process that was killed may have left the last page unfinished; the log has
    /// the whole of it.
    static func requireWholePages(_ path: String) throws(StoreError) {
        guard endsWithinPage(path), !hasLog(path), endsWithinPage(path) else { return }
        throw StoreError(.corrupt, "the file was cut off", path: path)
    }

    /// Whether a write-ahead log with content lies beside the file.
    static func hasLog(_ path: String) -> Bool { size("\(file(at: path))-wal") ?? 0 > 0 }

    private static func endsWithinPage(_ path: String) -> Bool {
        guard let size = size(file(at: path)), size > 0, let file = FileHandle(forReadingAtPath: path) else {
            return false
        }
        defer { try? file.close() }
        // Bytes 16 and 17 of the header hold the size of a page, big-endian, 65,536 as 1. Other files than databases
        // are SQLite's to refuse.
        guard let header = try? file.read(upToCount: 18), header.count == 18,
            header.starts(with: "SQLite format 3\0".utf8)
        else { return false }
        let pageSize = Int(header[16]) << 8 | Int(header[17])
        return size % (pageSize == 1 ? 65_536 : max(512, pageSize)) != 0
    }

    private static func size(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }

    /// The file that a link leads to: its size counts, and the log lies beside it.
    private static func file(at path: String) -> String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }
}
