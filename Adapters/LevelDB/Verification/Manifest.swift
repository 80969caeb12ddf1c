internal import TidelineStore

/// The content of a manifest: the tables and logs of a database.
///
/// LevelDB reads the manifest again; this reader detects damage that LevelDB ignores.
struct Manifest {
    /// The size of each table, by number.
    private(set) var tables: [UInt64: UInt64] = [:]
    /// The numbers of the tables that begin with a key of a store's first space.
    private(set) var firstTables: Set<UInt64> = []
    /// The first log with changes that are in no table yet, or 0 before there was a log.
    private(set) var firstLog: UInt64 = 0
    /// The sequence number of the last change when the manifest was written.
    private(set) var lastSequence: UInt64 = 0
    /// The possible sequence numbers of the first change in ``firstLog``.
    private(set) var firstChanges: ClosedRange<UInt64> = 1...1

    /// For each record, in order: the number of the next file, and the last sequence number at that time.
    private var history: [(nextFile: UInt64, lastSequence: UInt64)] = []
    private var nextFile: UInt64 = 0
    /// The highest sequence number of a change that is known to be in a table.
    private var lastInTables: UInt64 = 0
    private var comparator: [UInt8]?
    private var isComplete: Bool { has.isSuperset(of: [.logNumber, .nextFile, .lastSequence]) }
    private var has: Set<Field> = []

    private enum Field: UInt64 {
        case comparator = 1
        case logNumber, nextFile, lastSequence, compactPointer, deletedFile, newFile
        case previousLog = 9
    }

    /// Reads the manifest that `CURRENT` refers to.
    init(in folder: String) throws(StoreError) {
        let path = "\(folder)/\(try FileName.current(in: folder))"
        var reader = try LogReader(path)
        while let record = try reader.next() {
            guard apply(record.bytes) else { throw .damaged(path, "the manifest contains an invalid entry") }
        }
        if let damage = reader.damage { throw .damaged(path, "the manifest is damaged: \(damage)") }
        guard isComplete else { throw .damaged(path, "the manifest is incomplete") }
        guard comparator == Array("leveldb.BytewiseComparator".utf8) else {
            throw StoreError(
                .notAStore, "the database has a different key order and is not a store; choose another folder",
                path: path)
        }
    }

    /// Returns whether all files that the manifest refers to exist; if not, later entries are lost.
    func isCurrent(in folder: String) throws(StoreError) -> Bool {
        let files = Set(try FolderCheck.names(in: folder).compactMap { FileName($0) })
        return (firstLog == 0 || files.contains(.log(firstLog)))
            && tables.keys.allSatisfy { files.contains(.table($0)) }
    }

    /// Returns whether the first change of a log can have the given sequence number.
    ///
    /// Changes are numbered without gaps across all logs.
    ///
    /// - Parameters:
    ///   - last: The sequence number of the last change in the previous logs; `nil` if they have no changes.
    ///   - isInFirstLog: Whether the log is ``firstLog``.
    func admits(_ first: UInt64, after last: UInt64?, isInFirstLog: Bool) -> Bool {
        if let last { return first == last + 1 }
        if isInFirstLog { return firstChanges.contains(first) }
        // The first log is empty. That is valid only if this log begins where the first log would have begun.
        return firstChanges.lowerBound == firstChanges.upperBound && first == firstChanges.upperBound
    }

    /// Applies a record; returns `false` if it is damaged.
    private mutating func apply(_ record: [UInt8]) -> Bool {
        var reader = VarintReader(record)
        let log = firstLog
        while !reader.isAtEnd {
            guard let field = reader.number().flatMap(Field.init), apply(field, &reader) else { return false }
            has.insert(field)
        }
        if firstLog != log { firstChanges = beginningOfFirstLog }
        history.append((nextFile, lastSequence))
        return true
    }

    /// The possible sequence numbers of the first change of ``firstLog``, after a record has named it.
    ///
    /// The second record is written when the database is opened, before the first change. Later records name a log
    /// after the previous log has become a table. The new log has changes by then, which are later than all changes in
    /// tables and than the last sequence number recorded before the log was created.
    private var beginningOfFirstLog: ClosedRange<UInt64> {
        let latest = lastSequence + 1
        if history.count == 1 { return latest...latest }
        let before = history.last { $0.nextFile <= firstLog }?.lastSequence ?? 0
        return min(max(before, lastInTables) + 1, latest)...latest
    }

    private mutating func apply(_ field: Field, _ reader: inout VarintReader) -> Bool {
        switch field {
        case .comparator: comparator = reader.string().map(Array.init)
        case .compactPointer: return reader.number() != nil && reader.string() != nil
        case .deletedFile:
            guard reader.number() != nil, let number = reader.number() else { return false }
            tables[number] = nil
            firstTables.remove(number)
        case .newFile: return applyNewFile(&reader)
        case .logNumber, .nextFile, .lastSequence, .previousLog:
            guard let number = reader.number() else { return false }
            if field == .logNumber { firstLog = number }
            if field == .nextFile { nextFile = number }
            if field == .lastSequence { lastSequence = number }
        }
        return lastSequence < LogCommit.numberLimit
    }

    private mutating func applyNewFile(_ reader: inout VarintReader) -> Bool {
        guard reader.number() != nil, let number = reader.number(), let size = reader.number(),
            let first = reader.string(), let last = reader.string()
        else { return false }
        tables[number] = size
        // LevelDB appends eight bytes to a key.
        if FolderCheck.beginsStore(first.dropLast(8)) { firstTables.insert(number) }
        lastInTables = max(lastInTables, Self.change(of: first), Self.change(of: last))
        return true
    }

    /// Returns the sequence number of a key in a table: the upper seven of the eight bytes after the key.
    private static func change(of key: ArraySlice<UInt8>) -> UInt64 {
        key.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } >> 8
    }
}

/// Reads numbers and byte strings from the start of a sequence of bytes. Each read returns `nil` if too few bytes are
/// left.
struct VarintReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { self.bytes = ArraySlice(bytes) }

    var isAtEnd: Bool { bytes.isEmpty }

    /// Reads a number of at most 64 bits, stored in groups of seven bits per byte, the lowest first.
    mutating func number() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = bytes.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    /// Reads a length and as many bytes.
    mutating func string() -> ArraySlice<UInt8>? {
        guard let length = number(), length <= UInt64(bytes.count) else { return nil }
        defer { bytes = bytes.dropFirst(Int(length)) }
        return bytes.prefix(Int(length))
    }
}
