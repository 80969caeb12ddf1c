import Foundation
import TidelineStore

/// A record with a property of each type.
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

    /// The columns that the tests of queries use.
    struct Columns: Sendable {
        let text = Column<String>("text")
        let flag = Column<Bool>("flag")
        let int = Column<Int>("int")
        let int8 = Column<Int8>("int8")
        let priority = Column<Priority>("priority")
        let kind = Column<Kind>("kind")
        let parent = Column<Sample.ID?>("parent")
        let note = Column<String?>("note")
        let due = Column<Date?>("due")
    }
    static let columns = Columns()
    static let tableName = "Sample"
    static let schema = TableSchema(
        tableName, columns: properties.map(\.column), references: [ForeignKey(columns.parent)])

    private static let properties: [Property] = [
        Property("text", \.text), Property("flag", \.flag), Property("int", \.int), Property("int8", \.int8),
        Property("int16", \.int16), Property("int32", \.int32), Property("int64", \.int64), Property("uint", \.uint),
        Property("uint8", \.uint8), Property("uint16", \.uint16), Property("uint32", \.uint32),
        Property("uint64", \.uint64), Property("double", \.double), Property("float", \.float),
        Property("date", \.date), Property("instant", \.instant), Property("uuid", \.uuid), Property("url", \.url),
        Property("data", \.data), Property("bytes", \.bytes), Property("priority", \.priority),
        Property("kind", \.kind), Property("place", \.place), Property("tags", \.tags), Property("scores", \.scores),
        Property("parent", \.parent), Property("note", \.note), Property("due", \.due), Property("rank", \.rank),
        Property("photo", \.photo), Property("home", \.home), Property("marks", \.marks),
    ]
}

/// A property of a record, with its column.
private struct Property: Sendable {
    let column: ColumnSchema
    let read: @Sendable (inout RecordReader, inout Sample) throws -> Void
    let write: @Sendable (Sample, inout RecordWriter) throws -> Void

    init<T: ColumnValue>(_ name: String, _ path: any WritableKeyPath<Sample, T> & Sendable) {
        let column = Column<T>(name)
        self.column = .column(column)
        read = { row, sample in sample[keyPath: path] = try row.read(column) }
        write = { sample, row in try row.write(sample[keyPath: path], to: column) }
    }
}

extension Sample {
    init(from row: inout RecordReader) throws {
        id = row.id()
        for property in Self.properties { try property.read(&row, &self) }
    }

    func write(to row: inout RecordWriter) throws {
        for property in Self.properties { try property.write(self, &row) }
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
