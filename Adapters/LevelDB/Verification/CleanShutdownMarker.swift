internal import Foundation
internal import TidelineStore

/// The sizes of a database's logs when it was closed and all of them were synced.
///
/// A run of zeros in a log may be the result of a power loss, or damage. In a synced log it is damage, and so is a
/// different size. LevelDB begins a new log whenever it opens a database, so the record of the old ones stays valid.
struct CleanShutdownMarker {
    static let fileName = "tideline.seal"

    private var sizes: [UInt64: UInt64] = [:]

    /// Reads the record in a folder; empty if there is no record or it is damaged.
    init(in folder: String) {
        guard let content = FileManager.default.contents(atPath: "\(folder)/\(Self.fileName)") else { return }
        var fields = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isWhitespace).map { UInt64($0) }
        guard let checksum = fields.popLast(), checksum == Self.checksum(fields.compactMap(\.self)),
            fields.count.isMultiple(of: 2)
        else { return }
        for index in stride(from: 0, to: fields.count, by: 2) {
            if let log = fields[index], let size = fields[index + 1] { sizes[log] = size }
        }
    }

    /// Returns the required size of a log, or `nil` if it is not known.
    subscript(log: UInt64) -> UInt64? { sizes[log] }

    /// Syncs the logs of a closed database, and records their sizes. If that fails, nothing is recorded.
    static func write(in folder: String) {
        guard let logs = try? FolderCheck.logs(in: folder) else { return }
        var fields: [UInt64] = []
        for log in logs {
            guard let file = FileHandle(forUpdatingAtPath: FolderCheck.path(ofLog: log, in: folder)) else { return }
            defer { try? file.close() }
            guard (try? file.synchronize()) != nil, let size = try? file.seekToEnd() else { return }
            fields += [log, size]
        }
        let text = (fields + [checksum(fields)]).map(String.init).joined(separator: " ")
        try? Data("\(text)\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(fileName)"))
    }

    static func remove(in folder: String) { unlink("\(folder)/\(fileName)") }

    private static func checksum(_ fields: [UInt64]) -> UInt64 {
        var checksum = CRC32C()
        fields.map(\.littleEndian).withUnsafeBytes { checksum.add($0) }
        return UInt64(checksum.masked)
    }
}
