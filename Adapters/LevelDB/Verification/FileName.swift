internal import Foundation
internal import TidelineStore

/// The kind of a database file, from its name.
enum FileName: Hashable {
    case current, lock
    /// LevelDB's log of its own activity, current or previous.
    case report
    case manifest(UInt64)
    case log(UInt64)
    case table(UInt64)
    case temporary(UInt64)
    /// The sizes of the logs, recorded when the database was closed.
    case seal
    /// The file of an interrupted check for disk space, which earlier versions left.
    case room
    /// See ``RepairMarker``.
    case repair

    init?(_ name: String) {
        switch name {
        case "CURRENT": self = .current
        case "LOCK": self = .lock
        case "LOG", "LOG.old": self = .report
        case CleanShutdownMarker.fileName: self = .seal
        case DiskRoom.fileName: self = .room
        case RepairMarker.fileName: self = .repair
        default:
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            if name.hasPrefix("MANIFEST-"), let number = Self.number(name.dropFirst(9)) {
                self = .manifest(number)
            } else if parts.count == 2, let number = Self.number(parts[0]), let file = Self.file(number, parts[1]) {
                self = file
            } else {
                return nil
            }
        }
    }

    /// Whether the file is part of the database itself.
    var holdsData: Bool {
        switch self {
        case .current, .manifest, .log, .table: true
        case .lock, .report, .temporary, .seal, .room, .repair: false
        }
    }

    /// Whether the file is one that every database has, and that identifies a folder as a database.
    var beginsDatabase: Bool {
        switch self {
        case .current, .manifest: true
        case .lock, .report, .log, .table, .temporary, .seal, .room, .repair: false
        }
    }

    private static func file(_ number: UInt64, _ suffix: Substring) -> FileName? {
        switch suffix {
        case "log": .log(number)
        case "ldb", "sst": .table(number)
        case "dbtmp": .temporary(number)
        default: nil
        }
    }

    private static func number(_ text: Substring) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }

    /// Returns the name of the manifest that `CURRENT` refers to.
    static func current(in folder: String) throws(StoreError) -> String {
        let path = "\(folder)/CURRENT"
        guard let file = try FileHandle.reading(path) else { throw .damaged(path, "the file is missing") }
        let content = String(decoding: try file.all(of: path), as: UTF8.self)
        guard content.hasSuffix("\n"), case .manifest = FileName(String(content.dropLast())) else {
            throw .damaged(path, "the file does not name a manifest")
        }
        return String(content.dropLast())
    }
}
