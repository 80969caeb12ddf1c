internal import Foundation
internal import TidelineStore

/// Finds the damage to a database that LevelDB passes over, before LevelDB opens it.
///
/// LevelDB has checksums, but does not notice a log that is missing, zeros within a log or manifest, or a manifest that
/// was cut off; it begins an empty database where `CURRENT` is missing; and some damage ends the process.
/// What is left to LevelDB are the blocks of tables, which it checks when it reads them. A log that ends too early is
/// taken as a killed process leaves it, unless the store was closed: the commits before that are there.
struct FolderCheck {
    let folder: String

    /// The number of the last change of a database, whose logs are made whole where a loss of power cut them.
    func lastSequence(recovering durability: StoreCapabilities.Durability) throws(StoreError) -> UInt64 {
        do throws(StoreError) {
            return try lastSequence()
        } catch  where error.code == .corrupt {
            try LogRecovery(folder: folder, durability: durability).cut()
            return try lastSequence()
        }
    }

    /// The number of the last change of a sound database.
    func lastSequence() throws(StoreError) -> UInt64 {
        let manifest = try Manifest(in: folder)
        for (number, size) in manifest.tables { try TableFile.check(number, size: size, in: folder) }
        let logs = try Self.logs(in: folder).filter { $0 >= manifest.firstLog }
        // The log is made before the manifest names it, and kept until a manifest names another.
        guard manifest.firstLog == 0 || logs.first == manifest.firstLog else {
            throw .damaged(Self.path(ofLog: manifest.firstLog, in: folder), "the log is missing")
        }
        let seal = LogSeal(in: folder)
        var last: UInt64?
        for log in logs { try check(log: log, &last, manifest, size: seal[log]) }
        return max(manifest.lastSequence, last ?? 0)
    }

    /// Refuses damage and gaps in a log, and a log of another place. Changes are numbered without gaps, over all logs and
    /// commits.
    ///
    /// - Parameters:
    ///   - last: The number of the last change in the logs before, then of the last in this one.
    ///   - size: How long the log was when the database was closed, where that is known.
    private func check(
        log: UInt64, _ last: inout UInt64?, _ manifest: Manifest, size: UInt64?
    ) throws(StoreError) {
        let path = Self.path(ofLog: log, in: folder)
        if let size { try requireSize(size, path) }
        var reader = try LogReader(path, keeping: LogCommit.headerSize)
        while let record = try reader.next() {
            guard let commit = LogCommit(record),
                manifest.admits(commit.first, after: last, isInFirstLog: log == manifest.firstLog)
            else { throw .damaged(path, "the commit at \(record.start) does not follow those before it") }
            last = commit.last
        }
        if let damage = reader.damage { throw .damaged(path, "the log is damaged: \(damage)") }
    }

    private func requireSize(_ size: UInt64, _ path: String) throws(StoreError) {
        guard let file = try FileHandle.reading(path) else { throw .damaged(path, "the log is missing") }
        defer { try? file.close() }
        guard let found = try? file.seekToEnd() else { throw StoreError(.io, "the log cannot be read", path: path) }
        guard found != size else { return }
        throw .damaged(path, "the log has \(found) bytes and had \(size) when the store was closed")
    }

    // MARK: Logs

    /// The numbers of the logs, in order.
    static func logs(in folder: String) throws(StoreError) -> [UInt64] {
        try names(in: folder).compactMap { name -> UInt64? in
            if case .log(let number) = FileName(name) { number } else { nil }
        }
        .sorted()
    }

    static func path(ofLog number: UInt64, in folder: String) -> String {
        let digits = String(number)
        return "\(folder)/\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits).log"
    }

    /// The names of all files of a folder.
    static func names(in folder: String) throws(StoreError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            let number = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue
            let reason = number.map { ": \(String(cString: strerror($0)))" } ?? ""
            throw StoreError(
                .io, "the folder cannot be read\(reason)", path: folder, engineCode: number.map(Int.init), cause: error)
        }
    }
}

/// What a log's record says of its commit: the number of its first change and of its last.
struct LogCommit {
    static let headerSize = 12
    /// The upper limit of the number of a change, which has 56 bits; no change has this number.
    static let numberLimit: UInt64 = 1 << 56

    let first: UInt64
    let last: UInt64

    /// Nil for a record that is no commit.
    init?(_ record: LogRecord) {
        guard record.bytes.count == Self.headerSize else { return nil }
        let first = (0..<8).reduce(UInt64(0)) { $0 | UInt64(record.bytes[$1]) << UInt64(8 * $1) }
        let count = (0..<4).reduce(UInt64(0)) { $0 | UInt64(record.bytes[8 + $1]) << UInt64(8 * $1) }
        guard first > 0, first < Self.numberLimit else { return nil }
        self.first = first
        last = first + count - 1
    }
}
