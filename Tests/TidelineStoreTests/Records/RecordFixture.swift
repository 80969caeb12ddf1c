import Foundation
import TidelineStore

/// A record with a property of each type, with a conformance as an app writes it by hand.
struct Sample: TableRecord, Equatable {
    enum Priority: Int, ColumnValue { case low, high }
    enum Kind: String, ColumnValue { case task, note }
    struct Place: JSONColumnValue, Equatable {
        var street: String
        var opened: Date?
    }

    var id: ID<Sample> = .new
    var text = ""
    var flag = false
    var int = 0
    var int8: Int8 = 0
    var int16: Int16 = 0
    var int32: Int32 = 0
    var int64: Int64 = 0
    var uint: UInt = 0
    var uint8: UInt8 = 0
    var uint16: UInt16 = 0
    var uint32: UInt32 = 0
    var uint64: UInt64 = 0
    var double = 0.0
    var float: Float = 0
    var date = Date(timeIntervalSince1970: 0)
    var instant = Timestamp.min
    var uuid = UUID(uuidString: "0B8E0C6D-9D2C-4B6E-8A51-1C8A0F4C2E11")!
    var url = URL(string: "https://example.com")!
    var data = Data()
    var bytes: [UInt8] = []
    var priority = Priority.low
    var kind = Kind.task
    var place = Place(street: "")
    var tags: [String] = []
    var scores: [String: Int] = [:]
    var parent: Sample.ID?
    var note: String?
    var due: Date?
    var rank: Int8?
    var photo: Data?
    var home: Place?
    var marks: Set<Int>?

    struct Columns: Sendable {
        let text = Column<String>("text")
        let flag = Column<Bool>("flag")
        let int = Column<Int>("int")
        let int8 = Column<Int8>("int8")
        let int16 = Column<Int16>("int16")
        let int32 = Column<Int32>("int32")
        let int64 = Column<Int64>("int64")
        let uint = Column<UInt>("uint")
        let uint8 = Column<UInt8>("uint8")
        let uint16 = Column<UInt16>("uint16")
        let uint32 = Column<UInt32>("uint32")
        let uint64 = Column<UInt64>("uint64")
        let double = Column<Double>("double")
        let float = Column<Float>("float")
        let date = Column<Date>("date")
        let instant = Column<Timestamp>("instant")
        let uuid = Column<UUID>("uuid")
        let url = Column<URL>("url")
        let data = Column<Data>("data")
        let bytes = Column<[UInt8]>("bytes")
        let priority = Column<Priority>("priority")
        let kind = Column<Kind>("kind")
        let place = Column<Place>("place")
        let tags = Column<[String]>("tags")
        let scores = Column<[String: Int]>("scores")
        let parent = Column<Sample.ID?>("parent")
        let note = Column<String?>("note")
        let due = Column<Date?>("due")
        let rank = Column<Int8?>("rank")
        let photo = Column<Data?>("photo")
        let home = Column<Place?>("home")
        let marks = Column<Set<Int>?>("marks")
    }
    static let columns = Columns()
    static let tableName = "Sample"
    static let schema = TableSchema(
        tableName,
        columns: [
            .column(columns.text), .column(columns.flag), .column(columns.int), .column(columns.int8),
            .column(columns.int16), .column(columns.int32), .column(columns.int64), .column(columns.uint),
            .column(columns.uint8), .column(columns.uint16), .column(columns.uint32), .column(columns.uint64),
            .column(columns.double), .column(columns.float), .column(columns.date), .column(columns.instant),
            .column(columns.uuid), .column(columns.url), .column(columns.data), .column(columns.bytes),
            .column(columns.priority), .column(columns.kind), .column(columns.place), .column(columns.tags),
            .column(columns.scores), .column(columns.parent), .column(columns.note), .column(columns.due),
            .column(columns.rank), .column(columns.photo), .column(columns.home), .column(columns.marks),
        ], references: [ForeignKey(columns.parent)])
}

extension Sample {
    init(from row: inout RecordReader) throws {
        let columns = Self.columns
        id = row.id()
        text = try row.read(columns.text)
        flag = try row.read(columns.flag)
        int = try row.read(columns.int)
        int8 = try row.read(columns.int8)
        int16 = try row.read(columns.int16)
        int32 = try row.read(columns.int32)
        int64 = try row.read(columns.int64)
        uint = try row.read(columns.uint)
        uint8 = try row.read(columns.uint8)
        uint16 = try row.read(columns.uint16)
        uint32 = try row.read(columns.uint32)
        uint64 = try row.read(columns.uint64)
        double = try row.read(columns.double)
        float = try row.read(columns.float)
        date = try row.read(columns.date)
        instant = try row.read(columns.instant)
        uuid = try row.read(columns.uuid)
        url = try row.read(columns.url)
        data = try row.read(columns.data)
        bytes = try row.read(columns.bytes)
        priority = try row.read(columns.priority)
        kind = try row.read(columns.kind)
        place = try row.read(columns.place)
        tags = try row.read(columns.tags)
        scores = try row.read(columns.scores)
        parent = try row.read(columns.parent)
        note = try row.read(columns.note)
        due = try row.read(columns.due)
        rank = try row.read(columns.rank)
        photo = try row.read(columns.photo)
        home = try row.read(columns.home)
        marks = try row.read(columns.marks)
    }

    func write(to row: inout RecordWriter) throws {
        let columns = Self.columns
        try row.write(text, to: columns.text)
        try row.write(flag, to: columns.flag)
        try row.write(int, to: columns.int)
        try row.write(int8, to: columns.int8)
        try row.write(int16, to: columns.int16)
        try row.write(int32, to: columns.int32)
        try row.write(int64, to: columns.int64)
        try row.write(uint, to: columns.uint)
        try row.write(uint8, to: columns.uint8)
        try row.write(uint16, to: columns.uint16)
        try row.write(uint32, to: columns.uint32)
        try row.write(uint64, to: columns.uint64)
        try row.write(double, to: columns.double)
        try row.write(float, to: columns.float)
        try row.write(date, to: columns.date)
        try row.write(instant, to: columns.instant)
        try row.write(uuid, to: columns.uuid)
        try row.write(url, to: columns.url)
        try row.write(data, to: columns.data)
        try row.write(bytes, to: columns.bytes)
        try row.write(priority, to: columns.priority)
        try row.write(kind, to: columns.kind)
        try row.write(place, to: columns.place)
        try row.write(tags, to: columns.tags)
        try row.write(scores, to: columns.scores)
        try row.write(parent, to: columns.parent)
        try row.write(note, to: columns.note)
        try row.write(due, to: columns.due)
        try row.write(rank, to: columns.rank)
        try row.write(photo, to: columns.photo)
        try row.write(home, to: columns.home)
        try row.write(marks, to: columns.marks)
    }
}

extension Sample {
    /// A record with the greatest values of each type, and no `nil`.
    static var full: Sample {
        Sample(
            id: "full", text: "naïve \0 text", flag: true, int: .max, int8: .min, int16: .max, int32: .min, int64: .min,
            uint: 1 << 40, uint8: .max, uint16: .max, uint32: .max, uint64: UInt64(Int64.max), double: -.pi, float: 0.1,
            date: Date(timeIntervalSince1970: 1_000_000.5), instant: .max,
            url: URL(string: "https://example.com/?a=b#c")!,
            data: Data([0, 255]), bytes: [1, 2, 3], priority: .high, kind: .note,
            place: Place(street: "Main", opened: Date(timeIntervalSince1970: 86_400)), tags: ["a", "ü"],
            scores: ["b": 2, "a": 1], parent: "p", note: "", due: Date(timeIntervalSince1970: 1), rank: -1,
            photo: Data([7]), home: Place(street: "Side"), marks: [1])
    }
}
