internal import Foundation
internal import TidelineStore

/// Checks a database for damage that LevelDB ignores, before LevelDB opens it.
///
/// LevelDB has checksums, but does not detect a missing log, zeros within a log or manifest, or a truncated manifest.
/// It creates an empty database if `CURRENT` is missing, and some damage makes it crash the process. LevelDB itself
/// checks the blocks of tables when it reads them. A log that ends too early is treated as the result of a killed
/// process, unless the store was closed: all earlier commits are intact.
struct FolderCheck {
    let folder: String

    /// Returns the sequence number of the last change in a database, after truncating logs that a power loss damaged.
    func lastSequence(recovering durability: StoreCapabilities.Durability) throws(StoreError) -> UInt64 {
        do throws(StoreError) {
            return try lastSequence()
        } catch  where error.code == .corrupt {
            try requireRecognizable()
            try LogRecovery(folder: folder, durability: durability).cut()
            return try lastSequence()
        }
    }

    /// Throws an error if the files have the names of LevelDB's files, but none has the content of one.
    ///
    /// - Throws: ``StoreError/Code/notAStore``.
    func requireRecognizable() throws(StoreError) {
        for name in try Self.names(in: folder) {
            let path = "\(folder)/\(name)"
            switch FileName(name) {
            case .current:
                guard (try? FileName.current(in: folder)) == nil else { return }
            case .manifest, .log:
                var reader = try LogReader(path, keeping: 0)
                guard try reader.next() == nil else { return }
            case .table:
                guard try !TableFile.hasMark(path) else { return }
            default: break
            }
        }
        throw StoreError(
            .notAStore,
            "the files in the folder are not LevelDB's; choose another folder or, if a store was here, restore it",
            path: folder)
    }

    /// Returns whether an undamaged database is empty or a store, without opening it.
    func isStore() throws(StoreError) -> Bool {
        let manifest = try Manifest(in: folder)
        guard manifest.tables.isEmpty else { return !manifest.firstTables.isEmpty }
        for log in try Self.logs(in: folder) where log >= manifest.firstLog {
            var reader = try LogReader(Self.path(ofLog: log, in: folder), keeping: 64)
            // The first commit of a store writes only its format, with short keys in the first space.
            guard let record = try reader.next() else { continue }
            // The kind of the first change, one byte, and its key follow the header.
            var change = VarintReader(record.bytes.dropFirst(LogCommit.headerSize + 1))
            guard let key = change.string() else { return false }
            return Self.beginsStore(key)
        }
        return true
    }

    /// Returns whether a key can be the first one of a store.
    static func beginsStore(_ key: some Sequence<UInt8>) -> Bool {
        // The keys of a store begin with a four-byte number, and its first key has the smallest number, zero.
        key.starts(with: [0, 0, 0, 0])
    }

    /// Returns the sequence number of the last change in an undamaged database.
    func lastSequence() throws(StoreError) -> UInt64 {
        let manifest = try Manifest(in: folder)
        for (number, size) in manifest.tables { try TableFile.check(number, size: size, in: folder) }
        let logs = try Self.logs(in: folder).filter { $0 >= manifest.firstLog }
        // The log is created before the manifest refers to it, and kept until a manifest refers to another.
        guard manifest.firstLog == 0 || logs.first == manifest.firstLog else {
            throw .damaged(Self.path(ofLog: manifest.firstLog, in: folder), "the log is missing")
        }
        let seal = CleanShutdownMarker(in: folder)
        var last: UInt64?
        for log in logs { try check(log: log, &last, manifest, size: seal[log]) }
        return max(manifest.lastSequence, last ?? 0)
    }

    /// Throws an error if a log is damaged, has gaps, or does not follow the previous logs. Changes are numbered
    /// without gaps across all logs and commits.
    ///
    /// - Parameters:
    ///   - last: The number of the last change in the previous logs; set to that of the last change in this log.
    ///   - size: The size of the log when the database was closed, if it is known.
    private func check(
        log: UInt64, _ last: inout UInt64?, _ manifest: Manifest, size: UInt64?
    ) throws(StoreError) {
        let path = Self.path(ofLog: log, in: folder)
        if let size { try requireSize(size, path) }
        var reader = try LogReader(path, keeping: LogCommit.headerSize)
        while let record = try reader.next() {
            guard let commit = LogCommit(record),
                manifest.admits(commit.first, after: last, isInFirstLog: log == manifest.firstLog)
            else { throw .damaged(path, "the commit at byte \(record.start) does not follow the previous ones") }
            last = commit.last
        }
        if let damage = reader.damage { throw .damaged(path, "the log is damaged: \(damage)") }
    }

    private func requireSize(_ size: UInt64, _ path: String) throws(StoreError) {
        guard let file = try FileHandle.reading(path) else { throw .damaged(path, "the log is missing") }
        defer { try? file.close() }
        guard let found = try? file.seekToEnd() else { throw StoreError(.io, "the log cannot be read", path: path) }
        guard found != size else { return }
        throw .damaged(path, "the log has \(found) bytes, but had \(size) when the store was closed")
    }

    // MARK: Logs

    /// Returns the numbers of the logs, in order.
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

    /// Returns the names of all files in a folder.
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

/// The sequence numbers of a commit's first and last change, as stored in its log record.
struct LogCommit {
    static let headerSize = 12
    /// The exclusive upper limit of sequence numbers, which have 56 bits.
    static let numberLimit: UInt64 = 1 << 56

    let first: UInt64
    let last: UInt64

    /// Returns `nil` for a record that is not a commit.
    init?(_ record: LogRecord) {
        guard record.bytes.count == Self.headerSize else { return nil }
        let first = (0..<8).reduce(UInt64(0)) { $0 | UInt64(record.bytes[$1]) << UInt64(8 * $1) }
        let count = (0..<4).reduce(UInt64(0)) { $0 | UInt64(record.bytes[8 + $1]) << UInt64(8 * $1) }
        guard first > 0, first < Self.numberLimit else { return nil }
        self.first = first
        last = first + count - 1
    }
}
