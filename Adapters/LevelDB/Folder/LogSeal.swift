internal import Foundation
internal import TidelineStore

/// The sizes of the logs of a database when it was closed, and all of them was on the disk.
///
/// A stretch of zeros in a log may be what a loss of power left, or damage. In a log that was synced it is damage, and so
/// is another size. LevelDB begins a new log whenever it opens a database, so what this says of the old ones stays true.
struct LogSeal {
    static let fileName = "tideline.seal"

    private var sizes: [UInt64: UInt64] = [:]

    /// What is noted in a folder; nothing where there is no note, or one that is damaged.
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

    /// How long a log has to be; nil where nothing is known of it.
    subscript(log: UInt64) -> UInt64? { sizes[log] }

    /// Syncs the logs of a database that was closed, and notes their sizes. Where that fails, nothing is known of them.
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

    /// Forgets what is noted.
    static func remove(in folder: String) { unlink("\(folder)/\(fileName)") }

    private static func checksum(_ fields: [UInt64]) -> UInt64 {
        var checksum = CRC32C()
        fields.map(\.littleEndian).withUnsafeBytes { checksum.add($0) }
        return UInt64(checksum.masked)
    }
}
