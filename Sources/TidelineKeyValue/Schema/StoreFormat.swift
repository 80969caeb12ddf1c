internal import Foundation
internal import TidelineStore

/// What a store writes down of itself, in ``KeySpace/meta``.
///
/// | key behind the space | value |
/// |---|---|
/// | `f` | ``FormatRecord``, as JSON |
/// | `g` | the generation of the definitions (8 bytes), the number of the next key space (4) |
/// | `t`, a table's space (4, big-endian) | its ``StoredDefinition``, as JSON |
/// | `c`, a table's space (4, big-endian) | the number of its rows (8); none counts as 0 |
///
/// Numbers are little-endian unless said otherwise. Rows and index entries are described by ``RowCursor``,
/// ``KeyBuilder`` and ``LongKey``.
enum StoreFormat {
    /// The version that this code writes, and the latest it reads.
    static let version = 1

    static let formatKey = KeySpace.meta.prefix + Array("f".utf8)
    static let generationKey = KeySpace.meta.prefix + Array("g".utf8)
    static let definitions = KeySpace.meta.prefix + Array("t".utf8)

    static func definitionKey(_ rows: KeySpace) -> [UInt8] { definitions + rows.prefix }
    static func countKey(_ rows: KeySpace) -> [UInt8] { withCountKey(rows) { Array($0) } }

    /// Calls `body` with the key of the number of a table's rows, which every transaction that adds rows writes.
    static func withCountKey<T>(_ rows: KeySpace, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try withUnsafeTemporaryAllocation(byteCount: 2 * KeySpace.length + 1, alignment: 1) { key in
            key.storeBytes(of: KeySpace.meta.number.bigEndian, as: UInt32.self)
            key[KeySpace.length] = UInt8(ascii: "c")
            key.storeBytes(of: rows.number.bigEndian, toByteOffset: KeySpace.length + 1, as: UInt32.self)
            return try body(UnsafeRawBufferPointer(key))
        }
    }
}

/// What a file says of how it was written.
struct FormatRecord: Codable, Sendable {
    var version: Int
    /// The engine that wrote the file.
    var engine: String
    /// The engine's greatest length of a key, on which the keys stored depend; nil when there is none.
    var maximumKeyLength: Int?
    /// What the store declares that the content depends on: whether NaN and the infinities may be in it, and how long an
    /// id may be.
    var storesNaN: Bool
    var storesInfinity: Bool
    var maximumIDLength: Int
    /// What a reader must know beyond the version; this code knows nothing yet.
    var requires: [String]

    init(_ engine: some OrderedKeyValueEngine) {
        let capabilities = engine.storeCapabilities
        version = StoreFormat.version
        self.engine = capabilities.name
        maximumKeyLength = engine.maximumKeyLength == .max ? nil : engine.maximumKeyLength
        storesNaN = capabilities.storesNaN
        storesInfinity = capabilities.storesInfinity
        maximumIDLength = capabilities.maximumIDLength
        requires = []
    }
}

extension OrderedKeyValueEngine {
    /// What a store over the engine declares: what the engine does, and what is seen to here whatever the engine.
    var storeCapabilities: StoreCapabilities {
        var capabilities = capabilities
        capabilities.storesNaN = true
        capabilities.storesInfinity = true
        capabilities.maximumIDLength = 255
        return capabilities
    }
}

/// The part of a format record that every version has; what else a later one has is unknown.
private struct FormatVersion: Decodable {
    var version: Int
    var requires: [String]?
}

// MARK: - Reading

extension KeySource {
    /// Checks that the store is one that this code and engine can work on.
    ///
    /// - Returns: Whether there is a store; false when there is nothing at all.
    /// - Throws: ``StoreError/Code/newerFormat``, ``StoreError/Code/corrupt``.
    func checkFormat(for engine: some OrderedKeyValueEngine) throws -> Bool {
        guard let stored = try value(StoreFormat.formatKey) else {
            guard try isEmpty(.meta), try isEmpty(KeySpace(number: 1)) else {
                throw StoreError(.corrupt, "the store has lost what says how it was written, or is not a store")
            }
            return false
        }
        let decoder = JSONDecoder()
        guard let found = try? decoder.decode(FormatVersion.self, from: Data(stored)), found.version > 0 else {
            throw StoreError(.corrupt, "what says how the store was written is damaged")
        }
        let unknown = found.requires ?? []
        guard found.version <= StoreFormat.version, unknown.isEmpty else {
            let reason = unknown.isEmpty ? "" : ", which needs \(unknown.joined(separator: ", "))"
            throw StoreError(
                .newerFormat,
                "the store has format \(found.version)\(reason); this version knows format \(StoreFormat.version). Update "
                    + "the program")
        }
        let limit = engine.maximumKeyLength == .max ? nil : engine.maximumKeyLength
        guard let record = try? decoder.decode(FormatRecord.self, from: Data(stored)), record.maximumKeyLength == limit
        else {
            throw StoreError(
                .corrupt,
                "the store was written for keys of another length than the engine \(engine.capabilities.name) has")
        }
        return true
    }

    private func isEmpty(_ space: KeySpace) throws -> Bool {
        var isEmpty = true
        try scan(space.range, descending: false) { _, _ in
            isEmpty = false
            return .stop
        }
        return isEmpty
    }

    /// The generation of the definitions and the number of the next key space.
    func generation() throws -> (generation: Int64, nextSpace: UInt32) {
        let found = try StoreFormat.generationKey.withUnsafeBytes { key in
            try get(key) { value -> (Int64, UInt32)? in
                guard value.count == 12 else { return nil }
                return (
                    Int64(littleEndian: value.loadUnaligned(as: Int64.self)),
                    UInt32(littleEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                )
            }
        }
        // Both still have to grow, and space 0 is no table's.
        guard let found, let (generation, nextSpace) = found, generation > 0, generation < .max, nextSpace > 0 else {
            throw StoreError(.corrupt, "the store has lost the state of its definitions")
        }
        return (generation, nextSpace)
    }

    /// All definitions.
    func catalog() throws -> Catalog {
        let (generation, nextSpace) = try generation()
        var tables: [StoredTable] = []
        var taken: Set<KeySpace> = [.meta]
        var names: Set<[UInt8]> = []
        try scan(KeyRange(prefix: StoreFormat.definitions), descending: false) { key, value in
            let table = try table(key: key, definition: value)
            guard names.insert(Array(table.name.utf8)).inserted,
                table.definition.spaces.allSatisfy({ $0.number < nextSpace && taken.insert($0).inserted })
            else {
                throw StoreError(.corrupt, "the stored definitions contradict each other", table: table.name)
            }
            tables.append(table)
            return .next
        }
        return Catalog(generation: generation, nextSpace: nextSpace, tables: tables)
    }

    private func table(key: UnsafeRawBufferPointer, definition: UnsafeRawBufferPointer) throws(StoreError)
        -> StoredTable
    {
        do {
            let definition = try JSONDecoder().decode(StoredDefinition.self, from: Data(definition))
            try definition.validate()
            guard key.elementsEqual(StoreFormat.definitionKey(definition.rows)) else {
                throw StoreError(.corrupt, "the definition is another table's", table: definition.schema.name)
            }
            return StoredTable(definition)
        } catch {
            throw StoreError(.corrupt, "the stored definition of a table is damaged", cause: error)
        }
    }

    /// How many rows a table has, as it was written down.
    func rowCount(of table: StoredTable) throws -> Int {
        var found: Int64 = 0
        _ = try StoreFormat.withCountKey(table.rows) { key in
            try find(key) { found = $0.count == 8 ? Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) : -1 }
        }
        guard let count = Int(exactly: found), count >= 0 else {
            throw StoreError(.corrupt, "the number of rows is damaged", table: table.name)
        }
        return count
    }
}

// MARK: - Writing

extension KeyStore {
    /// Makes an empty store of nothing.
    func writeFormat(for engine: some OrderedKeyValueEngine) throws {
        try put(StoreFormat.formatKey, try StoreFormat.json(FormatRecord(engine)))
        try writeGeneration(of: .empty)
    }

    func writeGeneration(of catalog: Catalog) throws {
        let bytes =
            withUnsafeBytes(of: catalog.generation.littleEndian, Array.init)
            + withUnsafeBytes(of: catalog.nextSpace.littleEndian, Array.init)
        try put(StoreFormat.generationKey, bytes)
    }

    func writeDefinition(_ definition: StoredDefinition) throws {
        try put(StoreFormat.definitionKey(definition.rows), try StoreFormat.json(definition))
    }

    func writeRowCount(_ count: Int, of rows: KeySpace) throws {
        try StoreFormat.withCountKey(rows) { key in
            try withUnsafeBytes(of: Int64(count).littleEndian) { try put(key, $0) }
        }
    }
}

extension StoreFormat {
    fileprivate static func json(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
}
