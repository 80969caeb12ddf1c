#if Macros
import Foundation
import Tideline
import TidelineMacros

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

/// A record with columns of every kind, with the conformance that the macro writes.
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

/// The same record as ``Sample`` with a conformance as an app writes it by hand.
enum Handwritten {
    struct Sample: Identifiable, Sendable, Equatable {
        var id: TidelineStore.ID<Handwritten.Sample>
        var text: String
        var flag: Bool
        var due: Date?
        var created: Timestamp = .min
        var priority = 0
        var rank: Int8 = -1
        var ratio = 0.5
        var scale: Float = 1
        let url: URL
        var key: UUID
        var photo: Data?
        var bytes: [UInt8] = []
        var tags: [String] = []
        var scores: [String: Int]?
        var kind: Kind = .task
        var kinds: Set<Kind> = [.note]
        var place: Place
        var home: Place? = Place(street: "none")
        var text2 = ""
        var folder: Folder.ID
        var original: TidelineStore.ID<Handwritten.Sample>?
        var (row, columns, schema) = (0, 1, 2)
    }
}

extension Handwritten.Sample: MergingRecord {
    struct Columns: Sendable {
        let text = Column<String>("text")
        let flag = Column<Bool>("flag")
        let due = Column<Date?>("due")
        let created = Column<Timestamp>("created")
        let priority = Column<Int>("priority")
        let rank = Column<Int8>("position")
        let ratio = Column<Double>("ratio")
        let scale = Column<Float>("scale")
        let url = Column<URL>("url")
        let key = Column<UUID>("key")
        let photo = Column<Data?>("photo")
        let bytes = Column<[UInt8]>("bytes")
        let tags = Column<[String]>("tags")
        let scores = Column<[String: Int]?>("scores")
        let kind = Column<Kind>("kind")
        let kinds = Column<Set<Kind>>("kinds")
        let place = Column<Place>("place")
        let home = Column<Place?>("home")
        let text2 = Column<String>("default")
        let folder = Column<Folder.ID>("folder")
        let original = Column<TidelineStore.ID<Handwritten.Sample>?>("original")
        let row = Column<Int>("row")
        let columns = Column<Int>("columns")
        let schema = Column<Int>("schema")
    }
    static let columns = Columns()
    static let tableName = "Sample"
    static let schema = TableSchema(
        tableName,
        columns: [
            .column(columns.text), .column(columns.flag), .column(columns.due),
            .column(columns.created, optional: true), .column(columns.priority, optional: true),
            .column(columns.rank, optional: true), .column(columns.ratio, optional: true),
            .column(columns.scale, optional: true), .column(columns.url), .column(columns.key),
            .column(columns.photo), .column(columns.bytes, optional: true), .column(columns.tags, optional: true),
            .column(columns.scores), .column(columns.kind, optional: true), .column(columns.kinds, optional: true),
            .column(columns.place), .column(columns.home), .column(columns.text2, optional: true),
            .column(columns.folder), .column(columns.original), .column(columns.row, optional: true),
            .column(columns.columns, optional: true), .column(columns.schema, optional: true),
        ],
        idMatching: .exact, indexes: [["flag"], ["due", "position", "id"]],
        references: [ForeignKey(columns.folder), ForeignKey(columns.original)])
    static let mergeRules: [String: MergeRule] = ["priority": .greatest, "tags": .union, "default": .text]

    init(from row: inout RecordReader) throws {
        let columns = Self.columns
        id = row.id()
        text = try row.read(columns.text)
        flag = try row.read(columns.flag)
        due = try row.read(columns.due)
        created = try row.read(columns.created, default: .min)
        priority = try row.read(columns.priority, default: 0)
        rank = try row.read(columns.rank, default: -1)
        ratio = try row.read(columns.ratio, default: 0.5)
        scale = try row.read(columns.scale, default: 1)
        url = try row.read(columns.url)
        key = try row.read(columns.key)
        photo = try row.read(columns.photo)
        bytes = try row.read(columns.bytes, default: [])
        tags = try row.read(columns.tags, default: [])
        scores = try row.read(columns.scores)
        kind = try row.read(columns.kind, default: .task)
        kinds = try row.read(columns.kinds, default: [.note])
        place = try row.read(columns.place)
        home = try row.read(columns.home)
        text2 = try row.read(columns.text2, default: "")
        folder = try row.read(columns.folder)
        original = try row.read(columns.original)
        self.row = try row.read(columns.row, default: 0)
        self.columns = try row.read(columns.columns, default: 1)
        schema = try row.read(columns.schema, default: 2)
    }

    func write(to row: inout RecordWriter) throws {
        let columns = Self.columns
        try row.write(text, to: columns.text)
        try row.write(flag, to: columns.flag)
        try row.write(due, to: columns.due)
        try row.write(created, to: columns.created)
        try row.write(priority, to: columns.priority)
        try row.write(rank, to: columns.rank)
        try row.write(ratio, to: columns.ratio)
        try row.write(scale, to: columns.scale)
        try row.write(url, to: columns.url)
        try row.write(key, to: columns.key)
        try row.write(photo, to: columns.photo)
        try row.write(bytes, to: columns.bytes)
        try row.write(tags, to: columns.tags)
        try row.write(scores, to: columns.scores)
        try row.write(kind, to: columns.kind)
        try row.write(kinds, to: columns.kinds)
        try row.write(place, to: columns.place)
        try row.write(home, to: columns.home)
        try row.write(text2, to: columns.text2)
        try row.write(folder, to: columns.folder)
        try row.write(original, to: columns.original)
        try row.write(self.row, to: columns.row)
        try row.write(self.columns, to: columns.columns)
        try row.write(schema, to: columns.schema)
    }
}
#endif
