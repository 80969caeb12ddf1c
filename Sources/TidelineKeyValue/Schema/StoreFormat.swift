internal import TidelineStore

/// The catalog of a store, in ``KeySpace/meta``.
///
/// | key after the space | value |
/// |---|---|
/// | `f` | ``FormatRecord``, as JSON |
/// | `g` | the generation of the definitions (8 bytes), the number of the next key space (4) |
/// | `t`, a table's space (4, big-endian) | its ``StoredDefinition``, as JSON |
/// | `c`, a table's space (4, big-endian) | the number of its rows (8); 0 if absent |
///
/// Numbers are little-endian unless stated otherwise. ``RowCursor``, ``KeyBuilder``, and ``OverflowKey`` describe rows
/// and index entries.
enum StoreFormat {
    /// The version that this code writes, and the latest version that it reads.
    static let version = 1
    /// The feature of a store in which the current layout of a table is not the last one.
    static let reusedLayouts = "reused-layouts"

    static let formatKey = KeySpace.meta.prefix + Array("f".utf8)
    static let generationKey = KeySpace.meta.prefix + Array("g".utf8)
    static let definitions = KeySpace.meta.prefix + Array("t".utf8)

    static func definitionKey(_ rows: KeySpace) -> [UInt8] { definitions + rows.prefix }
    static func countKey(_ rows: KeySpace) -> [UInt8] { unsafe withCountKey(rows) { unsafe Array($0) } }

    /// Calls `body` with the key of a table's row count, which every transaction that adds rows writes.
    static func withCountKey<T>(_ rows: KeySpace, _ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try unsafe withUnsafeTemporaryAllocation(byteCount: 2 * KeySpace.length + 1, alignment: 1) { key in
            unsafe key.storeBytes(of: KeySpace.meta.number.bigEndian, as: UInt32.self)
            unsafe key[KeySpace.length] = UInt8(ascii: "c")
            unsafe key.storeBytes(of: rows.number.bigEndian, toByteOffset: KeySpace.length + 1, as: UInt32.self)
            return try unsafe body(UnsafeRawBufferPointer(key))
        }
    }
}

/// The format record of a store's files.
struct FormatRecord: Codable, Sendable {
    var version: Int
    /// The engine that wrote the file.
    var engine: String
    /// The engine's maximum key length, on which the stored keys depend, or `nil` if there is no limit.
    var maximumKeyLength: Int?
    /// Capabilities that the content depends on: whether it may contain NaN and the infinities, and the maximum length
    /// of an identifier.
    var storesNaN: Bool
    var storesInfinity: Bool
    var maximumIDLength: Int
    /// Features beyond the version that a reader must support. This version supports ``StoreFormat/reusedLayouts``.
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
    /// The capabilities of a store over the engine: those of the engine, and those that the store provides for any
    /// engine.
    var storeCapabilities: StoreCapabilities {
        var capabilities = capabilities
        capabilities.storesNaN = true
        capabilities.storesInfinity = true
        capabilities.limitsQueryTime = true
        capabilities.maximumIDLength = 255
        return capabilities
    }
}

/// The part of a format record that all versions share.
private struct FormatVersion: Decodable {
    var version: Int
    var requires: [String]?
}

// MARK: - Reading

extension KeySource {
    /// Checks that this code and engine can use the store.
    ///
    /// - Returns: Whether the store exists; `false` if the first two key spaces are empty.
    /// - Throws: ``StoreError/Code/newerFormat``, ``StoreError/Code/notAStore``, ``StoreError/Code/corrupt``.
    func checkFormat(for engine: some OrderedKeyValueEngine) throws -> Bool {
        guard let stored = try value(StoreFormat.formatKey) else {
            guard try isEmpty(KeySpace.meta.range), try isEmpty(KeySpace(number: 1).range) else {
                // The state of the definitions shows that a store wrote it.
                guard try value(StoreFormat.generationKey)?.count != 12 else {
                    throw StoreError(.corrupt, "the format record is missing; restore the store from a copy")
                }
                throw StoreError(.notAStore, "the database is another program's; choose another path")
            }
            return false
        }
        guard let found = try? RecordJSON.decode(FormatVersion.self, from: stored), found.version > 0 else {
            throw StoreError(.corrupt, "the format record is damaged")
        }
        let unknown = (found.requires ?? []).filter { $0 != StoreFormat.reusedLayouts }
        guard found.version <= StoreFormat.version, unknown.isEmpty else {
            let reason = unknown.isEmpty ? "" : ", which requires \(unknown.joined(separator: ", "))"
            throw StoreError(
                .newerFormat,
                "the store has format \(found.version)\(reason); this version supports format "
                    + "\(StoreFormat.version). Update the program")
        }
        guard let record = try? RecordJSON.decode(FormatRecord.self, from: stored),
            record.maximumKeyLength == FormatRecord(engine).maximumKeyLength
        else {
            throw StoreError(
                .corrupt,
                "the store was written with another maximum key length than the engine \(engine.capabilities.name) has")
        }
        return true
    }

    /// Returns the generation of the definitions and the number of the next key space.
    func generation() throws -> (generation: Int64, nextSpace: UInt32) {
        let found = try unsafe StoreFormat.generationKey.withUnsafeBytes { key in
            try unsafe get(key) { value -> (Int64, UInt32)? in
                guard value.count == 12 else { return nil }
                return unsafe (
                    Int64(littleEndian: value.loadUnaligned(as: Int64.self)),
                    UInt32(littleEndian: value.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                )
            }
        }
        // Both numbers must be able to increase, and space 0 belongs to no table.
        guard let found, let (generation, nextSpace) = found, generation > 0, generation < .max, nextSpace > 0 else {
            throw StoreError(.corrupt, "the record of the store's definitions is missing or damaged")
        }
        return (generation, nextSpace)
    }

    /// Returns the catalog of all definitions.
    func catalog() throws -> Catalog {
        let (generation, nextSpace) = try generation()
        var tables: [StoredTable] = []
        var taken: Set<KeySpace> = [.meta]
        var names: Set<String> = []
        try unsafe scan(KeyRange(prefix: StoreFormat.definitions), descending: false) { key, value in
            let table = try unsafe table(key: key, definition: value)
            guard names.insert(table.name).inserted,
                table.definition.spaces.allSatisfy({ $0.number < nextSpace && taken.insert($0).inserted })
            else {
                throw StoreError(.corrupt, "the stored definitions contradict each other", table: table.name)
            }
            tables.append(table)
            return .next
        }
        return Catalog(generation: generation, nextSpace: nextSpace, tables: tables)
    }

    /// Returns a table with the definition that was read.
    ///
    /// - Throws: ``StoreError/Code/corrupt``; ``StoreError/Code/schemaMismatch`` for a name that is not in
    ///   normalization form C.
    func table(key: UnsafeRawBufferPointer, definition: UnsafeRawBufferPointer) throws(StoreError)
        -> StoredTable
    {
        let decoded = unsafe try? RecordJSON.decode(StoredDefinition.self, from: Array(definition))
        // First, because two columns whose names are equal now would be damage.
        try decoded?.schema.requireStoredFormC(retired: decoded?.retired ?? [])
        do {
            let definition = try unsafe decoded ?? RecordJSON.decode(StoredDefinition.self, from: Array(definition))
            try definition.validate()
            guard unsafe key.elementsEqual(StoreFormat.definitionKey(definition.rows)) else {
                throw StoreError(.corrupt, "the definition belongs to another table", table: definition.schema.name)
            }
            return StoredTable(definition)
        } catch {
            throw StoreError(.corrupt, "the stored definition of a table is damaged", cause: error)
        }
    }

    func rowCount(of table: StoredTable) throws -> Int {
        var found: Int64 = 0
        _ = try unsafe StoreFormat.withCountKey(table.rows) { key in
            try unsafe find(key) {
                found = unsafe $0.count == 8 ? Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) : -1
            }
        }
        guard let count = Int(exactly: found), count >= 0 else {
            throw StoreError(.corrupt, "the stored row count is damaged", table: table.name)
        }
        return count
    }
}

// MARK: - Writing

extension KeyStore {
    /// Initializes an empty store.
    func writeFormat(for engine: some OrderedKeyValueEngine) throws {
        try writeFormatRecord(for: engine)
        try writeGeneration(of: .empty)
    }

    func writeFormatRecord(for engine: some OrderedKeyValueEngine) throws {
        try put(StoreFormat.formatKey, try RecordJSON.encode(FormatRecord(engine)).utf8)
    }

    /// Adds the features that the tables require to the format record.
    func requireFeatures(of tables: [StoredTable]) throws {
        guard tables.contains(where: { $0.definition.layout != nil }), let stored = try value(StoreFormat.formatKey),
            var record = try? RecordJSON.decode(FormatRecord.self, from: stored),
            !record.requires.contains(StoreFormat.reusedLayouts)
        else { return }
        record.requires.append(StoreFormat.reusedLayouts)
        try put(StoreFormat.formatKey, try RecordJSON.encode(record).utf8)
    }

    func writeGeneration(of catalog: Catalog) throws {
        let bytes =
            unsafe withUnsafeBytes(of: catalog.generation.littleEndian, Array.init)
            + withUnsafeBytes(of: catalog.nextSpace.littleEndian, Array.init)
        try put(StoreFormat.generationKey, bytes)
    }

    func writeDefinition(_ definition: StoredDefinition) throws {
        try put(StoreFormat.definitionKey(definition.rows), try RecordJSON.encode(definition).utf8)
    }

    func writeRowCount(_ count: Int, of rows: KeySpace) throws {
        try unsafe StoreFormat.withCountKey(rows) { key in
            try unsafe withUnsafeBytes(of: Int64(count).littleEndian) { try unsafe put(key, $0) }
        }
    }
}
