internal import Foundation
internal import TidelineStore

/// Files that a repair does not use, kept in the folder `lost` as LevelDB's repair keeps them.
struct LostFiles {
    let folder: String

    static let folderName = "lost"

    /// Keeps from LevelDB's repair what it would make wrong rows of, or what would end the process.
    ///
    /// LevelDB's repair reads logs without regard to checksums, and reads every table there is.
    func sortOut() throws(StoreError) {
        var manifest = try? Manifest(in: folder)
        if let known = manifest, try !known.isCurrent(in: folder) { manifest = nil }
        for name in try FolderCheck.names(in: folder) {
            switch FileName(name) {
            case .table(let number):
                // A table that the database had done with holds old rows, and some that were deleted since.
                if !isReadable(number, name) || manifest.map({ $0.tables[number] == nil }) == true { try keep(name) }
            case .log(let number):
                if manifest.map({ number < $0.firstLog }) == true {
                    try keep(name)
                } else {
                    try cutDamage(name, number)
                }
            default: continue
            }
        }
    }

    private func isReadable(_ number: UInt64, _ name: String) -> Bool {
        let size = (try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)"))?[.size] as? Int
        return (try? TableFile.check(number, size: UInt64(size ?? 0), in: folder)) != nil
    }

    /// Cuts damage and all that comes after it from a log, of which a copy is kept.
    private func cutDamage(_ name: String, _ number: UInt64) throws(StoreError) {
        let path = "\(folder)/\(name)"
        var reader = try LogReader(path, keeping: LogCommit.headerSize)
        var end = 0
        while let record = try reader.next(), LogCommit(record) != nil { end = record.end }
        guard reader.damage != nil else { return }
        try doing(path) { files in try files.copyItem(atPath: path, toPath: place(for: "\(name).damaged")) }
        try LogRepair.cut(path, to: end)
    }

    private func keep(_ name: String) throws(StoreError) {
        try doing("\(folder)/\(name)") { files in
            try files.moveItem(atPath: "\(folder)/\(name)", toPath: place(for: name))
        }
    }

    /// A path in `lost` that is free.
    private func place(for name: String) throws -> String {
        let lost = "\(folder)/\(Self.folderName)"
        try FileManager.default.createDirectory(atPath: lost, withIntermediateDirectories: true)
        let path = "\(lost)/\(name)"
        return FileManager.default.fileExists(atPath: path) ? "\(path).\(UUID().uuidString)" : path
    }

    /// Removes the files that were kept, and their folder when nothing else is in it.
    func remove() throws(StoreError) {
        let lost = "\(folder)/\(Self.folderName)"
        for name in try FolderCheck.names(in: lost) where Self.isKept(name) && unlink("\(lost)/\(name)") != 0 {
            throw .system(errno, path: "\(lost)/\(name)", doing: "the file cannot be removed")
        }
        rmdir(lost)
    }

    /// Whether a name is that of a database's file, with what ``place(for:)`` and ``cutDamage(_:_:)`` may have added.
    private static func isKept(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return (1...2).contains { FileName(parts.prefix($0).joined(separator: ".")) != nil }
    }

    private func doing(_ path: String, _ body: (FileManager) throws -> Void) throws(StoreError) {
        do {
            try body(.default)
        } catch {
            throw StoreError(.io, "the file cannot be put aside", path: path, cause: error)
        }
    }
}
