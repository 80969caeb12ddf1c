internal import Foundation
internal import TidelineStore

/// Files that a repair does not use, kept in the folder `lost` as LevelDB's own repair does.
struct LostFiles {
    let folder: String

    static let folderName = "lost"
    /// The name of the file with entries that no table can read: the bytes of a key and a value on each line,
    /// hexadecimal.
    private static let entriesName = "entries.txt"

    var names: Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(Self.folderName)")) ?? [])
    }

    static func isTable(_ name: String) -> Bool {
        if case .table = FileName(name) { true } else { false }
    }

    /// Moves away files from which LevelDB's repair would create wrong rows, or which would crash the process.
    ///
    /// LevelDB's repair ignores checksums in logs, and reads every existing table.
    ///
    /// - Returns: Whether the remaining files contain all changes up to some commit and none after it, as far as is
    ///   known.
    func quarantine() throws(StoreError) -> Bool {
        var manifest = try? Manifest(in: folder)
        if let known = manifest, try !known.isCurrent(in: folder) { manifest = nil }
        let lastLog = try FolderCheck.logs(in: folder).last
        var isConsistent = manifest != nil
        for name in try FolderCheck.names(in: folder) {
            switch FileName(name) {
            case .table(let number):
                // A table that the database no longer uses contains old rows, including deleted ones.
                let isUsed = manifest.map { $0.tables[number] != nil } ?? true
                if isUsed, isReadable(number, name) { continue }
                if isUsed { isConsistent = false }
                try keep(name)
            case .log(let number):
                if manifest.map({ number < $0.firstLog }) == true {
                    try keep(name)
                } else if try cutDamage(name, number), number != lastLog {
                    isConsistent = false
                }
            default: continue
            }
        }
        return isConsistent
    }

    /// Returns the line for an entry in the file of entries.
    static func line(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> String {
        func digits(_ bytes: UnsafeRawBufferPointer) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        return "\(digits(key)) \(digits(value))\n"
    }

    /// Adds lines to the file of entries.
    func append(_ lines: String) throws(StoreError) {
        guard !lines.isEmpty else { return }
        let path = "\(folder)/\(Self.folderName)/\(Self.entriesName)"
        try doing(path) { files in
            try files.createDirectory(atPath: "\(folder)/\(Self.folderName)", withIntermediateDirectories: true)
            if !files.fileExists(atPath: path) { try Data().write(to: URL(fileURLWithPath: path)) }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.seekToEnd()
            try file.write(contentsOf: Data(lines.utf8))
        }
    }

    private func isReadable(_ number: UInt64, _ name: String) -> Bool {
        let size = (try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)"))?[.size] as? Int
        return (try? TableFile.check(number, size: UInt64(size ?? 0), in: folder)) != nil
    }

    /// Removes damage and everything after it from a log, and keeps a copy of the log. Returns whether it was damaged.
    private func cutDamage(_ name: String, _ number: UInt64) throws(StoreError) -> Bool {
        let path = "\(folder)/\(name)"
        var reader = try LogReader(path, keeping: LogCommit.headerSize)
        var end = 0
        while let record = try reader.next(), LogCommit(record) != nil { end = record.end }
        guard reader.damage != nil else { return false }
        try doing(path) { files in try files.copyItem(atPath: path, toPath: place(for: "\(name).damaged")) }
        try LogRepair.cut(path, to: end)
        return true
    }

    private func keep(_ name: String) throws(StoreError) {
        try doing("\(folder)/\(name)") { files in
            try files.moveItem(atPath: "\(folder)/\(name)", toPath: place(for: name))
        }
    }

    /// Returns an unused path in `lost`.
    private func place(for name: String) throws -> String {
        let lost = "\(folder)/\(Self.folderName)"
        try FileManager.default.createDirectory(atPath: lost, withIntermediateDirectories: true)
        let path = "\(lost)/\(name)"
        return FileManager.default.fileExists(atPath: path) ? "\(path).\(UUID().uuidString)" : path
    }

    /// Removes the kept files, and their folder if it contains nothing else.
    func remove() throws(StoreError) {
        let lost = "\(folder)/\(Self.folderName)"
        for name in try FolderCheck.names(in: lost) where Self.isKept(name) && unlink("\(lost)/\(name)") != 0 {
            throw .system(errno, path: "\(lost)/\(name)", doing: "the file cannot be removed")
        }
        rmdir(lost)
    }

    /// Returns whether a name is that of a database file, with any suffix from ``place(for:)`` or ``cutDamage(_:_:)``,
    /// or that of a file that macOS adds, beside another one (`._`) where the volume cannot store its attributes.
    private static func isKept(_ name: String) -> Bool {
        if name == entriesName || name == ".DS_Store" || name.hasPrefix("._") { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return (1...2).contains { FileName(parts.prefix($0).joined(separator: ".")) != nil }
    }

    private func doing(_ path: String, _ body: (FileManager) throws -> Void) throws(StoreError) {
        do {
            try body(.default)
        } catch {
            throw StoreError(.io, "the file cannot be moved to the folder \"lost\"", path: path, cause: error)
        }
    }
}
