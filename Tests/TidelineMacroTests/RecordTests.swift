#if Macros
import Foundation
import Testing
import TidelineMacros
import TidelineMemory

enum Kind: String, Codable, ColumnValue { case task, note }

struct Place: JSONColumnValue, Equatable {
    var street: String
    var opened: Date?
}

@Table("Folder")
struct Folder: Identifiable, Sendable, Equatable {
    var id: ID<Folder> = .new
    var name: String
    @References(Folder.self) var parent: Folder.ID?
}

/// A record with columns of every kind.
@Table("Sample", idMatching: .exact)
struct Sample: Identifiable, Sendable, Equatable {
    var id: ID<Sample> = .new
    var text: String
    @Index var flag: Bool
    @Index("rank", "id") var due: Date?
    var created: Timestamp = .min
    @Merge(.greatest) var priority = 0
    @Column("position") var rank: Int8 = -1
    var ratio = 0.5, scale: Float = 1
    let url: URL
    var key: UUID
    var photo: Data?
    var bytes: [UInt8] = []
    @Merge(.union) var tags: [String] = []
    var scores: [String: Int]?
    var kind: Kind = .task
    var kinds: Set<Kind> = [.note]
    var place: Place
    var home: Place? = Place(street: "none")
    @Merge(.text) var `default` = ""
    @References(Folder.self) var folder: Folder.ID
    @References(Sample.self) var original: Self.ID?
    /// A property whose name is that of a parameter or a member of the conformance.
    var row = 0, columns = 1, schema = 2
    var isUrgent: Bool { priority > 2 }
    static let none = 0
}

/// A record that is nested in a type whose names it uses, in which its extensions are not.
enum Nested {
    enum Color: Int, ColumnValue { case red, green }

    @Table("Paint")
    struct Paint: Identifiable, Sendable {
        var id: ID<Paint> = .new
        var color: Color = Color.green
        var other: Color = .red
        @Column("tone", unknown: Color.red) var shade: Color = .green
        @Column(unknown: Color.red) var back: Color?
        @Column(unknown: nil) var front: Color?
        @Column("edge", unknown: nil) var border: Color?
        var name: String = Self.noName
        private static let noName = "none"
    }
}

@Suite("Records by @Table")
struct RecordTests {
    private let key = UUID(uuidString: "0B8E0C6D-9D2C-4B6E-8A51-1C8A0F4C2E11")!
    private let url = URL(string: "https://example.com/?a=b#c")!

    /// A record with the least values, and one with values in all columns.
    private var samples: [Sample] {
        let least = Sample(
            id: "least", text: "", flag: false, url: url, key: key, place: Place(street: ""), home: nil, folder: "f")
        let full = Sample(
            id: "full", text: "naïve", flag: true, due: Date(timeIntervalSince1970: 1.5), created: .max, priority: 3,
            rank: .max, ratio: -.pi, scale: 0.1, url: url, key: key, photo: Data([0, 255]), bytes: [1],
            tags: ["a", "ü"],
            scores: ["a": 1], kind: .note, kinds: [.task],
            place: Place(street: "Main", opened: Date(timeIntervalSince1970: 86_400)),
            home: Place(street: "Side"), default: "d", folder: "f", original: "least", row: 7, columns: 8, schema: 9)
        return [least, full]
    }

    @Test("The table, its definition, and the rules are those that the properties and their attributes say")
    func definitions() {
        #expect(Sample.tableName == "Sample")
        let columns: [ColumnSchema] = [
            .string("text", optional: false), .bool("flag", optional: false), .timestamp("due"), .timestamp("created"),
            .int("priority"), .int("position"), .double("ratio"), .double("scale"), .string("url", optional: false),
            .string("key", optional: false), .bytes("photo"), .bytes("bytes"), .json("tags"), .json("scores"),
            .string("kind"), .json("kinds"), .json("place", optional: false), .json("home"), .string("default"),
            .string("folder", optional: false), .string("original"), .int("row"), .int("columns"), .int("schema"),
        ]
        let schema = TableSchema(
            "Sample", columns: columns, idMatching: .exact, indexes: [["flag"], ["due", "position", "id"]],
            references: [.init(column: "folder", table: "Folder"), .init(column: "original", table: "Sample")])
        #expect(Sample.schema == schema)
        let rules: [String: MergeRule] = ["priority": .greatest, "tags": .union, "default": .text]
        #expect(
            String(describing: Sample.mergeRules.sorted { $0.key < $1.key })
                == String(describing: rules.sorted { $0.key < $1.key }))
        #expect(Folder.schema.references == [ForeignKey(column: "parent", table: "Folder")])
        #expect(Folder.self as Any is any TableRecord.Type && !(Folder.self as Any is any MergingRecord.Type))
        #expect(throws: Never.self) { try Sample.schema.validate() }
    }

    @Test("A record is written as a row with the stored form of each property, and read back from it")
    func rows() throws {
        let least: Row = [
            "id": "least", "text": "", "flag": false, "due": .null, "created": .timestamp(.min), "priority": 0,
            "position": -1, "ratio": 0.5, "scale": 1.0, "url": url, "key": key, "photo": .null, "bytes": .bytes([]),
            "tags": .json("[]"), "scores": .null, "kind": "task", "kinds": .json(#"["note"]"#),
            "place": .json(#"{"street":""}"#), "home": .null, "default": "", "folder": "f", "original": .null,
            "row": 0, "columns": 1, "schema": 2,
        ]
        let full: Row = [
            "id": "full", "text": "naïve", "flag": true, "due": .timestamp(Timestamp(clampingTicks: 15_000_000)),
            "created": .timestamp(.max), "priority": 3, "position": 127, "ratio": .double(-.pi), "scale": 0.1,
            "url": url, "key": key, "photo": .bytes([0, 255]), "bytes": .bytes([1]), "tags": .json(#"["a","ü"]"#),
            "scores": .json(#"{"a":1}"#), "kind": "note", "kinds": .json(#"["task"]"#),
            "place": .json(#"{"opened":"1970-01-02T00:00:00.000Z","street":"Main"}"#),
            "home": .json(#"{"street":"Side"}"#), "default": "d", "folder": "f", "original": "least", "row": 7,
            "columns": 8, "schema": 9,
        ]
        var rows = PackedRows(shape: Sample.schema.makeShape())
        try rows.append(samples)
        for (index, (sample, stored)) in zip(samples, [least, full]).enumerated() {
            let row = rows.withRow(at: index) { $0.owned() }
            #expect(row == stored)
            #expect(try row.record(Sample.self) == sample)
        }
    }

    @Test("A row without values reads as the defaults, and an optional property as nil")
    func defaults() throws {
        var rows = PackedRows(shape: Sample.schema.makeShape())
        try rows.append([
            "id": "least", "text": "", "flag": false, "url": url, "key": key, "place": .json(#"{"street":""}"#),
            "folder": "f",
        ])
        let sample: Sample = try rows.withRow(at: 0) { try $0.record() }
        #expect(sample == samples[0])
        #expect(sample.kind == .task && sample.kinds == [.note] && sample.rank == -1 && sample.default.isEmpty)
    }

    @Test("A record in another type has its types and default values")
    func nested() throws {
        var rows = PackedRows(shape: Nested.Paint.schema.makeShape())
        try rows.append(["id": "a"])
        let paint: Nested.Paint = try rows.withRow(at: 0) { try $0.record() }
        #expect(paint.color == .green && paint.other == .red && paint.name == "none")
        #expect(Nested.Paint.schema.column("color")?.type == .int)
        #expect(paint.shade == .green && paint.back == nil)
        try rows.append(["id": "b", "tone": 9, "back": 9, "front": 9, "edge": 9])
        let unknown: Nested.Paint = try rows.withRow(at: 1) { try $0.record() }
        #expect(unknown.shade == .red && unknown.back == .red && unknown.front == nil && unknown.border == nil)
    }

    @Test("A store finds records by the typed columns")
    func store() throws {
        let store = try MemoryStore()
        try store.define([Sample.schema, Folder.schema])
        try store.write {
            try $0.upsert(samples)
            try $0.upsert([Folder(id: "f", name: "Work")])
        }
        let found = try store.read { reader in
            try reader.records(
                matching: Sample.where { $0.flag && $0.rank >= 100 && $0.kind == .note }.order { $0.due })
        }
        #expect(found == [samples[1]])
        #expect(try store.read { try $0.record("f" as Folder.ID) }?.name == "Work")
        #expect(try store.read { try $0.records(matching: Folder.where { $0.parent == nil }) }.count == 1)
    }
}
#endif
