import Foundation
import Testing
import TidelineConformance
import TidelineMemory
import TidelineStore
import TidelineSupport
import TidelineTestStores

@testable import TidelineKeyValue

/// Tests the format record, the definitions and the counts of a store, which are not trusted.
@Suite struct FormatTests {
    private let engine: MemoryEngine

    init() throws { engine = try Self.makeEngine() }

    private static let schema = TableSchema(
        "Item", columns: [.string("text"), .int("n")], systemColumns: [.version], indexes: [["n"], ["text", "id"]])

    /// Returns the entries of a store with a row, whose definition changed once.
    private static func makeEngine() throws -> MemoryEngine {
        let (engine, store) = try openStore(
            over: MemoryEngine(), TableSchema("Item", columns: [.string("text")], systemColumns: [.version]),
            TableSchema("Other", columns: []))
        try store.define([schema])
        try store.write { try $0.upsert(["id": "a", "text": "x", "n": 1], into: "Item") }
        return engine
    }

    private static let readOnly = StoreCapabilities(name: "memory", isReadOnly: true)

    private func openingFails(
        _ memory: MemoryEngine, with code: StoreError.Code, maximumKeyLength: Int = .max,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let engine = WrappedEngine(memory, maximumKeyLength: maximumKeyLength)
        expectError(code, sourceLocation: sourceLocation) { _ = try KeyValueStore(engine: engine) }
        #expect(engine.closingCount == 1, "the engine is closed once", sourceLocation: sourceLocation)
    }

    private static func replace(_ key: [UInt8], by value: [UInt8]?, in engine: MemoryEngine) throws {
        try engine.write { transaction in
            guard let value else {
                let isRemoved = try transaction.delete(key)
                #expect(isRemoved)
                return
            }
            try transaction.put(key, value)
        }
    }

    private static func text(_ key: [UInt8], in engine: MemoryEngine) throws -> String {
        String(decoding: try #require(try engine.read { try $0.value(key) }), as: UTF8.self)
    }

    // MARK: The format

    @Test(arguments: [
        #"{"version":2}"#, #"{"version":99,"anything":[]}"#, #"{"requires":["encryption"],"version":1}"#,
        #"{"version":1,"engine":"memory","requires":["x"],"storesNaN":true,"storesInfinity":true}"#,
    ])
    func aNewerFormatIsRefused(_ record: String) throws {
        try Self.replace(StoreFormat.formatKey, by: Array(record.utf8), in: engine)
        openingFails(engine, with: .newerFormat)
    }

    @Test(arguments: [
        "", "{", "null", "[]", "\0\0", #"{"version":0}"#, #"{"version":-1}"#, #"{"version":1}"#, #"{"version":"1"}"#,
        #"{"version":1e300}"#, String(repeating: "[", count: 100_000),
    ])
    func aDamagedFormatIsCorrupt(_ record: String) throws {
        try Self.replace(StoreFormat.formatKey, by: Array(record.utf8), in: engine)
        openingFails(engine, with: .corrupt)
    }

    @Test func aStoreForKeysOfAnotherLengthIsCorrupt() throws {
        openingFails(engine, with: .corrupt, maximumKeyLength: 511)
    }

    @Test(arguments: [Int.min, -1, 0, 3, 9, 64, 127])
    func anEngineOfTooShortKeysIsRefused(_ length: Int) throws {
        openingFails(MemoryEngine(), with: .unsupported, maximumKeyLength: length)
        openingFails(engine, with: .unsupported, maximumKeyLength: length)
    }

    @Test func rowsWithoutAFormatAreCorrupt() throws {
        try Self.replace(StoreFormat.formatKey, by: nil, in: engine)
        openingFails(engine, with: .corrupt)
        let rowsAlone = MemoryEngine()
        try Self.replace(KeySpace(number: 1).prefix + [97], by: [1], in: rowsAlone)
        openingFails(rowsAlone, with: .notAStore)
    }

    @Test func aStoreForReadingOnlyIsNotMade() throws {
        let engine = WrappedEngine(capabilities: Self.readOnly)
        #expect(throws: StoreError.self) { try KeyValueStore(engine: engine) }
        #expect(engine.closingCount == 1)
        let store = try KeyValueStore(engine: WrappedEngine(self.engine, capabilities: Self.readOnly))
        #expect(try store.read { try $0.count(TableQuery("Item")) } == 1)
        expectError(.readOnly) { try store.write { _ in } }
    }

    // MARK: Definitions

    @Test("A name that is not in normalization form C is refused, also beside an earlier column that it equals")
    func earlierNames() throws {
        for columns in [["a"], ["\u{E9}", "a"]] {
            let (engine, store) = try openStore(
                over: MemoryEngine(), TableSchema("T", columns: columns.map { .int($0) }))
            try store.define([TableSchema("T", columns: [.int("a")])])
            let key = StoreFormat.definitionKey(KeySpace(number: 1))
            let text = try Self.text(key, in: engine).replacing("\"a\"", with: "\"e\u{301}\"")
            try Self.replace(key, by: Array(text.utf8), in: engine)
            openingFails(engine, with: .schemaMismatch)
            let error = expectError(.schemaMismatch) {
                _ = try KeyValueStore<MemoryEngine>.repairContent(of: engine) { _, _ in }
            }
            #expect(error?.table == "T" && error?.column == "e\u{301}")
        }
    }

    @Test("Definitions in turn use their layouts again, which earlier versions of the format do not support")
    func alternatingDefinitions() throws {
        let versions = [["a", "c"], ["a", "x", "c"], ["c", "a"]].map { names in
            TableSchema("T", columns: names.map { .int($0) }, systemColumns: [])
        }
        let (engine, first) = try openStore(over: MemoryEngine(), versions[0])
        var store = first
        func features() throws -> [String] {
            let record = try #require(try engine.read { try $0.value(StoreFormat.formatKey) })
            return try RecordJSON.decode(FormatRecord.self, from: record).requires
        }
        var expected: [Row] = []
        for step in 0..<30 {
            let version = versions[step % 3]
            try store.define([version])
            #expect(try features() == (step < 4 ? [] : [StoreFormat.reusedLayouts]), "step \(step)")
            let id = "\(100 + step)"
            try store.write { try $0.upsert(["id": .string(id), "a": 1, "c": .int(Int64(step))], into: "T") }
            expected.append(["id": .string(id), "c": .int(Int64(step))])
            store = try KeyValueStore(engine: engine)
            let query = TableQuery("T").order(by: "id").select("id", "c")
            #expect(try store.read { try $0.rows(matching: query).rows } == expected, "step \(step)")
        }
        let key = StoreFormat.definitionKey(KeySpace(number: 1))
        let definition = try #require(try engine.read { try $0.value(key) })
        #expect(try RecordJSON.decode(StoredDefinition.self, from: definition).layouts.count == 4)
        try Self.replace(StoreFormat.formatKey, by: nil, in: engine)
        _ = try KeyValueStore<MemoryEngine>.repairContent(of: engine) { _, _ in }
        #expect(try features() == [StoreFormat.reusedLayouts])
    }

    @Test("An index in the space of a removed one has no entries of it")
    func reusedSpace() throws {
        var table = TableSchema("T", columns: [.int("n")], systemColumns: [], indexes: [["n"]])
        let query = TableQuery("T", predicate: .column("n") >= 0)
        let (engine, store) = try openStore(over: MemoryEngine(), table)
        try store.write { try $0.upsert(["id": "1", "n": 1], into: "T") }
        let entries = try engine.read { try $0.entries(in: KeySpace(number: 2).range) }
        #expect(entries.count == 1)
        table.indexes = []
        try store.define([table])
        try store.write { _ = try $0.delete(id: "1", from: "T") }
        try engine.write { transaction in for entry in entries { try transaction.put(entry.key, []) } }
        table.indexes = [["n"]]
        try store.define([table])
        #expect(try store.read { try $0.count(query) } == 0)
        #expect(try store.read { try $0.rows(matching: query).rows } == [])
    }

    @Test("More tables and indexes than the engine declares are refused")
    func limitOfTables() throws {
        let capabilities = StoreCapabilities(name: "memory", maximumTablesAndIndexes: 3)
        let first = TableSchema("First", columns: [.int("n")], indexes: [["n"]])
        var second = TableSchema("Second", columns: [.int("n")], indexes: [["n"]])
        let (_, store) = try openStore(over: WrappedEngine(capabilities: capabilities), first)
        let error = expectError(.tooManyTables) { try store.define([second]) }
        #expect(error?.table == "Second")
        #expect(try store.tables() == [first])
        second.indexes = []
        try store.define([second])
        #expect(try store.tables() == [first, second])
    }

    @Test(
        arguments: [
            nil, [], [UInt8](repeating: 0, count: 12), [UInt8](repeating: 0xFF, count: 12), [1, 0, 0, 0, 0, 0, 0, 0],
            [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0],
            [255, 255, 255, 255, 255, 255, 255, 127, 9, 0, 0, 0],
        ] as [[UInt8]?])
    func aDamagedStateOfTheDefinitionsIsCorrupt(_ state: [UInt8]?) throws {
        try Self.replace(StoreFormat.generationKey, by: state, in: engine)
        openingFails(engine, with: .corrupt)
    }

    @Test func aStoreWithoutTablesWhoseNextSpaceIsItsOwnIsCorrupt() throws {
        let engine = MemoryEngine()
        _ = try KeyValueStore(engine: engine)
        try Self.replace(StoreFormat.generationKey, by: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], in: engine)
        openingFails(engine, with: .corrupt)
    }

    /// Parts of the definition of `Item`, and their replacements.
    @Test(arguments: [
        (#""rows":1"#, #""rows":2"#), (#""rows":1"#, #""rows":0"#), (#""space":3"#, #""space":0"#),
        (#""space":3"#, #""space":1"#), (#""space":3"#, #""space":2"#), (#""space":3"#, #""space":4"#),
        (#""space":3"#, #""space":5"#), (#""space":3"#, #""space":4294967295"#), (#""space":3"#, #""space":-3"#),
        (#""name":"Item""#, #""name":"Other""#), (#""name":"Item""#, #""name":"""#),
        (
            #""name":"n","type":"int"},{"isOptional":true,"name":"version""#,
            #""name":"n","type":"bool"},{"isOptional":true,"name":"version""#
        ),
        (#""name":"version","type":"string""#, #""name":"version","type":"int""#),
        (#""name":"version","type":"string""#, #""name":"text","type":"string""#),
        (#""name":"version","type":"string""#, #""name":"gone","type":"string""#),
        (#"{"columns":["n"],"space":3},"#, ""), (#""columns":["n"],"space":3"#, #""columns":["n","n"],"space":3"#),
        (#""columns":["n"],"space":3"#, #""columns":["m"],"space":3"#), (#""layouts":["#, #""layouts":[[],"#),
        (#""retired":[]"#, #""retired":[{"isOptional":true,"name":"text","type":"string"}]"#),
        (#""retired":[]"#, #""retired":[{"isOptional":true,"name":"more","type":"string"}]"#),
        (#""idType":"string""#, #""idType":"text""#), ("{", ""), (#""layouts":"#, #""layout":0,"layouts":"#),
        (#""layouts":"#, #""layout":2,"layouts":"#), (#""layouts":"#, #""layout":-1,"layouts":"#),
    ])
    func aDamagedDefinitionIsCorrupt(_ piece: String, _ damage: String) throws {
        let key = StoreFormat.definitionKey(KeySpace(number: 1))
        let text = try Self.text(key, in: engine)
        let range = try #require(text.range(of: piece), "\(text)")
        try Self.replace(key, by: Array(text.replacingCharacters(in: range, with: damage).utf8), in: engine)
        if damage == #""layouts":[[],"# {
            // A layout without columns is valid, and no row was written with it; the rows now have another layout.
            #expect(throws: Never.self) { try KeyValueStore(engine: engine) }
        } else {
            openingFails(engine, with: .corrupt)
        }
    }

    @Test func aDefinitionWithAnyByteFlippedIsCorruptOrReadsAndWrites() throws {
        let seed = UInt64.random(in: 0...99_999)
        var random = SplitMix64(seed: seed)
        let entries = try engine.read { try $0.entries(in: KeyRange(from: [0, 0, 0, 0], to: [1])) }
        let key = StoreFormat.definitionKey(KeySpace(number: 1))
        let length = try #require(entries.first { $0.key == key }).value.count
        for position in 0..<length {
            let engine = MemoryEngine()
            try engine.write { transaction in
                for entry in entries {
                    var value = entry.value
                    if entry.key == key { value[position] ^= 1 << UInt8.random(in: 0...7, using: &random) }
                    try transaction.put(entry.key, value)
                }
            }
            do {
                let store = try KeyValueStore(engine: engine)
                for schema in try store.tables() {
                    _ = try store.read { try $0.rows(matching: TableQuery(schema.name)) }
                    _ = try store.write { try $0.delete(id: "a", from: schema.name) }
                }
            } catch let error as StoreError {
                #expect(error.code == .corrupt, "seed \(seed), byte \(position): \(error)")
            }
        }
    }

    // MARK: Counts

    @Test(arguments: [[], [1], [UInt8](repeating: 0xFF, count: 8), [0, 0, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]])
    func aDamagedCountIsCorruptAndNamesTheTable(_ count: [UInt8]) throws {
        let store = try KeyValueStore(engine: engine)
        try Self.replace(StoreFormat.countKey(KeySpace(number: 1)), by: count, in: engine)
        for step in 0..<3 {
            let error = expectError(.corrupt) {
                switch step {
                case 0: _ = try store.read { try $0.count(TableQuery("Item")) }
                case 1: try store.write { try $0.upsert(["id": "b"], into: "Item") }
                default: _ = try store.write { try $0.delete(id: "a", from: "Item") }
                }
            }
            #expect(error?.table == "Item")
        }
        #expect(try store.read { try $0.rows(matching: TableQuery("Item")).rows.count } == 1)
    }

    @Test func aCountThatIsTooSmallOrTooGreatIsCorruptWhenItsEndIsReached() throws {
        let store = try KeyValueStore(engine: engine)
        let key = StoreFormat.countKey(KeySpace(number: 1))
        try Self.replace(key, by: nil, in: engine)
        expectError(.corrupt) { _ = try store.write { try $0.delete(id: "a", from: "Item") } }
        try Self.replace(key, by: withUnsafeBytes(of: Int64.max.littleEndian, Array.init), in: engine)
        expectError(.corrupt) { try store.write { try $0.upsert(["id": "b"], into: "Item") } }
        #expect(try store.read { try $0.rows(matching: TableQuery("Item")).rows.map(\.id) } == ["a"])
    }
}
