internal import Foundation

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
        guard let header = read(Self.headerSize, at: 0) else { return false }
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
