#if Macros
import Foundation
import Testing
import TidelineMacros
import TidelineMemory

/// Records with a conformance by the macro behave as those with one by hand.
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

    @Test("Both have the same table, definition, and rules")
    func definitions() {
        #expect(Sample.tableName == Handwritten.Sample.tableName)
        #expect(Sample.schema == Handwritten.Sample.schema)
        #expect(
            String(describing: Sample.mergeRules.sorted { $0.key < $1.key })
                == String(describing: Handwritten.Sample.mergeRules.sorted { $0.key < $1.key }))
        #expect(Folder.schema.references == [ForeignKey(column: "parent", table: "Folder")])
        #expect(Folder.self as Any is any TableRecord.Type && !(Folder.self as Any is any MergingRecord.Type))
        #expect(throws: Never.self) { try Sample.schema.validate() }
    }

    @Test("Both read and write the same rows")
    func rows() throws {
        var rows = PackedRows(shape: Sample.schema.makeShape())
        try rows.append(samples)
        var others = PackedRows(shape: Handwritten.Sample.schema.makeShape())
        for (index, sample) in samples.enumerated() {
            let row = rows.withRow(at: index) { $0.owned() }
            #expect(try row.record(Sample.self) == sample)
            try others.append([row.record(Handwritten.Sample.self)])
            #expect(others.withRow(at: index) { $0.owned() } == row)
        }
    }

    @Test("A row without values reads as the defaults, and an optional property as nil")
    func defaults() throws {
        var rows = PackedRows(shape: Sample.schema.makeShape())
        try rows.append([
            "id": "a", "text": "", "flag": false, "url": url, "key": key, "place": .json(#"{"street":""}"#),
            "folder": "f",
        ])
        let sample: Sample = try rows.withRow(at: 0) { try $0.record() }
        #expect(
            sample
                == Sample(
                    id: "a", text: "", flag: false, url: url, key: key, place: Place(street: ""), home: nil, folder: "f"
                ))
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
