internal import TidelineStore

/// What the manifest says of a database: which tables and logs it consists of.
///
/// LevelDB reads it again; this reading finds what LevelDB passes over.
struct Manifest {
    /// The size of each table, by number.
    private(set) var tables: [UInt64: UInt64] = [:]
    /// The first log whose changes are in no table yet, 0 before there was one.
    private(set) var firstLog: UInt64 = 0
    /// The number of the last change when the manifest was written.
    private(set) var lastSequence: UInt64 = 0

    private var comparator: [UInt8]?
    private var isComplete: Bool { has.isSuperset(of: [.logNumber, .nextFile, .lastSequence]) }
    private var has: Set<Field> = []

    private enum Field: UInt64 {
        case comparator = 1
        case logNumber, nextFile, lastSequence, compactPointer, deletedFile, newFile
        case previousLog = 9
    }

    /// Reads the manifest that `CURRENT` names.
    init(in folder: String) throws(StoreError) {
        let path = "\(folder)/\(try FileName.current(in: folder))"
        var reader = try LogReader(path)
        while let record = try reader.next() {
            guard apply(record.bytes) else { throw .damaged(path, "the manifest has an entry that is none") }
        }
        if let damage = reader.damage { throw .damaged(path, "the manifest is damaged: \(damage)") }
        guard isComplete else { throw .damaged(path, "the manifest is not complete") }
        guard comparator == Array("leveldb.BytewiseComparator".utf8) else {
            throw .damaged(path, "the database orders its keys in another way: it is not a store's")
        }
    }

    /// Whether all it names is there; if not, later entries are lost.
    func isCurrent(in folder: String) throws(StoreError) -> Bool {
        let files = Set(try FolderCheck.names(in: folder).compactMap { FileName($0) })
        return (firstLog == 0 || files.contains(.log(firstLog)))
            && tables.keys.allSatisfy { files.contains(.table($0)) }
    }

    /// Takes over a record; false when it is damaged.
    private mutating func apply(_ record: [UInt8]) -> Bool {
        var reader = VarintReader(record)
        while !reader.isAtEnd {
            guard let field = reader.number().flatMap(Field.init), apply(field, &reader) else { return false }
            has.insert(field)
        }
        return true
    }

    private mutating func apply(_ field: Field, _ reader: inout VarintReader) -> Bool {
        switch field {
        case .comparator: comparator = reader.string().map(Array.init)
        case .compactPointer: return reader.number() != nil && reader.string() != nil
        case .deletedFile:
            guard reader.number() != nil, let number = reader.number() else { return false }
            tables[number] = nil
        case .newFile: return applyNewFile(&reader)
        case .logNumber, .nextFile, .lastSequence, .previousLog:
            guard let number = reader.number() else { return false }
            if field == .logNumber { firstLog = number }
            if field == .lastSequence { lastSequence = number }
        }
        return true
    }

    private mutating func applyNewFile(_ reader: inout VarintReader) -> Bool {
        guard reader.number() != nil, let number = reader.number(), let size = reader.number(),
            reader.string() != nil, reader.string() != nil
        else { return false }
        tables[number] = size
        return true
    }
}
