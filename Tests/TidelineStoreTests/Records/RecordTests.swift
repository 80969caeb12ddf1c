import Foundation
import Testing
import TidelineStore
import TidelineTestSupport

@Suite("Typed records")
struct RecordTests {
    private let shape = Sample.schema.makeShape()

    /// Packs the row of the full record with another value in one column.
    private func pack(_ column: String, _ value: Value) throws -> PackedRows {
        var rows = PackedRows(shape: shape)
        try rows.append([Sample.full])
        return try PackedRows([rows.withRow(at: 0) { $0.owned() }.merging([column: value])], of: Sample.schema)
    }

    /// Expects that a row with another value in one column cannot be read, and returns the error, which names it.
    private func failure(_ column: String, _ value: Value) throws -> StoreError {
        let rows = try pack(column, value)
        let error = #expect(throws: StoreError.self) { try rows.withRow(at: 0) { _ = try $0.record(Sample.self) } }
        #expect(error?.code == .unreadableRecord)
        #expect([error?.table, error?.id, error?.column] == ["Sample", "full", column])
        return try #require(error)
    }

    @Test("Every type comes back from the row that it is written to, and so does nil")
    func roundTrip() throws {
        let empty = Sample()
        var rows = PackedRows(shape: shape)
        try rows.append([.full, empty])
        #expect(try rows.withRow(at: 0) { try $0.record() } == Sample.full)
        #expect(try rows.withRow(at: 1) { try $0.record() } == empty)
        #expect(rows.withRow(at: 1) { $0["note"] } == .null)
        #expect(try rows.withRow(at: 0) { try $0.owned().record() } == Sample.full)
    }

    @Test("The values have the stored forms of the columns' types")
    func storedForms() throws {
        var rows = PackedRows(shape: shape)
        try rows.append([Sample.full])
        let row = rows.withRow(at: 0) { $0.owned() }
        let expected: [(String, Value)] = [
            ("uint8", .int(255)), ("float", 0.1), ("priority", .int(1)), ("kind", "note"),
            ("place", .json(#"{"opened":"1970-01-02T00:00:00.000Z","street":"Main"}"#)), ("tags", .json(#"["a","ü"]"#)),
            ("scores", .json(#"{"a":1,"b":2}"#)), ("bytes", .bytes([1, 2, 3])), ("parent", "p"),
        ]
        for (name, value) in expected { #expect(row[name] == value, "\(name)") }
        #expect(Sample.schema.columns.first { $0.name == "tags" } == .json("tags", optional: false))
        #expect(Sample.schema.columns.first { $0.name == "rank" } == .int("rank"))
        #expect(Sample.schema.references == [ForeignKey(column: "parent", table: "Sample")])
    }

    @Test("An integer out of range is an error that names table, id, column, and type, never another number")
    func integerRanges() throws {
        let beyond: [(String, Int64, String)] = [
            ("int8", 128, "Int8"), ("int8", -129, "Int8"), ("int16", 40_000, "Int16"), ("int32", 1 << 31, "Int32"),
            ("uint", -1, "UInt"), ("uint8", 256, "UInt8"), ("uint8", -1, "UInt8"), ("uint16", 65_536, "UInt16"),
            ("uint32", 1 << 32, "UInt32"), ("uint64", -1, "UInt64"), ("rank", 128, "Int8"), ("priority", 7, "Priority"),
        ]
        for (column, value, type) in beyond {
            let error = try failure(column, .int(value))
            #expect(error.message.contains("\(value)") && error.message.contains(type), "\(error)")
        }
    }

    @Test("An unsigned integer beyond 64 bits with a sign is not stored, and compares as greater than all that are")
    func unsignedRange() throws {
        var sample = Sample.full
        sample.uint64 = UInt64(Int64.max) + 1
        var rows = PackedRows(shape: shape)
        try rows.append([Sample()])
        let error = #expect(throws: StoreError.self) { try rows.append([.full, sample]) }
        #expect(rows.count == 1)
        #expect(error?.code == .invalidValue)
        #expect([error?.table, error?.id, error?.column] == ["Sample", "full", "uint64"])
        #expect(error?.message.contains("9223372036854775808") == true)
        #expect(sample.uint64.columnValue == .double(0x1p63))
    }

    @Test("A row without a value is an error for a property that is neither optional nor defaulted")
    func missing() throws {
        for column in ["text", "int8", "kind", "tags"] {
            let error = try failure(column, .null)
            #expect(error.message.contains("optional"), "\(error)")
        }
        for column in ["note", "due", "rank", "photo", "home", "marks", "parent"] {
            let rows = try pack(column, .null)
            _ = try rows.withRow(at: 0) { try $0.record(Sample.self) }
        }
    }

    @Test("Text that is no value of the type is an error, and JSON of another form says what is wrong")
    func unreadable() throws {
        _ = try failure("uuid", "x")
        #expect(try failure("kind", "other").message.contains("Kind"))
        _ = try failure("float", .double(1e300))
        #expect(try failure("home", .json(#"{"road":"Main"}"#)).cause is DecodingError)
    }

    @Test("A value without a JSON form is an error that names the column, and the batch is unchanged")
    func unwritable() throws {
        struct Ratio: JSONColumnValue { var value: Double }
        struct Share: TableRecord {
            var id: ID<Share> = "s"
            var ratio: Ratio
            struct Columns: Sendable { let ratio = Column<Ratio>("ratio") }
            static let columns = Columns()
            static let tableName = "Share"
            static let schema = TableSchema(tableName, columns: [.column(columns.ratio)])
            init(ratio: Ratio) { self.ratio = ratio }
            init(from row: inout RecordReader) throws { ratio = try row.read(Self.columns.ratio) }
            func write(to row: inout RecordWriter) throws { try row.write(ratio, to: Self.columns.ratio) }
        }
        var rows = PackedRows(shape: Share.schema.makeShape())
        let error = #expect(throws: StoreError.self) { try rows.append([Share(ratio: Ratio(value: .nan))]) }
        #expect(error?.code == .invalidValue && error?.column == "ratio" && error?.id == "s")
        #expect(error?.cause is EncodingError)
        #expect(rows.count == 0)
    }

    /// A record that reads its columns in an order that depends on the row.
    private struct Pair: TableRecord, Equatable {
        var id: ID<Pair> = "1"
        var a: Int?
        var b: String?
        struct Columns: Sendable {
            let a = Column<Int?>("a")
            let b = Column<String?>("b")
        }
        static let columns = Columns()
        static let tableName = "Pair"
        static let schema = TableSchema(tableName, columns: [.column(columns.a), .column(columns.b)])
        init(a: Int?, b: String?) { (self.a, self.b) = (a, b) }
        init(from row: inout RecordReader) throws {
            id = row.id()
            if let b = try row.read(Self.columns.b), b == "first" {
                self.b = b
                a = try row.read(Self.columns.a)
            } else {
                a = try row.read(Self.columns.a)
                b = try row.read(Self.columns.b)
            }
        }
        func write(to row: inout RecordWriter) throws {
            try row.write(b, to: Self.columns.b)
            try row.write(a, to: Self.columns.a)
        }
    }

    @Test("Columns may be read in any order, and rows of several shapes by one reader")
    func positions() throws {
        let pairs = [Pair(a: 1, b: "first"), Pair(a: 2, b: "x"), Pair(a: nil, b: "first"), Pair(a: 4, b: nil)]
        let other = RowShape(table: "Pair", columns: [.string("b"), .bool("c"), .int("a")])
        var rows = PackedRows(shape: Pair.schema.makeShape())
        var others = PackedRows(shape: other)
        try rows.append(pairs)
        try others.append(pairs)
        var reader = RecordReader()
        var found: [Pair] = []
        for index in pairs.indices {
            try rows.withRow(at: index) { found.append(try reader.record(Pair.self, of: $0)) }
            try others.withRow(at: index) { found.append(try reader.record(Pair.self, of: $0)) }
        }
        #expect(found == pairs.flatMap { [$0, $0] })
    }

    @Test("A table that lacks a column of the record is an error that names it, for reads and writes")
    func undefined() throws {
        var rows = PackedRows(shape: RowShape(table: "Sample", columns: [.string("txt")]))
        let written = #expect(throws: StoreError.self) { try rows.append([Sample.full]) }
        #expect(written?.code == .schemaMismatch && written?.column == "text")
        #expect(written?.message.contains(#"did you mean "txt"?"#) == true)
        try rows.append(["id": "1", "txt": "x"])
        let read = #expect(throws: StoreError.self) { try rows.withRow(at: 0) { _ = try $0.record(Sample.self) } }
        #expect(read?.code == .schemaMismatch && read?.column == "text" && read?.id == "1")
    }

    @Test("Identifiers compare by their bytes, and are encoded as text")
    func identifiers() throws {
        let id: Sample.ID = "a"
        #expect(id != "A" && id == ID("a"))
        #expect(Sample.ID("\u{E9}") != Sample.ID("e\u{301}"))
        #expect(try JSONDecoder().decode([Sample.ID].self, from: JSONEncoder().encode([id])) == [id])
        let new = Sample.ID.new.text
        #expect(UUID(uuidString: new) != nil && new == new.lowercased())
        #expect(Set((0..<1_000).map { _ in Sample.ID.new }).count == 1_000)
    }

    @Test("A query of records is the query of their rows")
    func queries() {
        func expect(_ query: RecordQuery<Sample>, _ predicate: RowPredicate?) {
            #expect(query.query.table == "Sample")
            switch (query.query.predicate, predicate) {
            case (nil, nil): break
            case (let found?, let expected?): #expect(found.isIdentical(to: expected), "\(found)")
            default: Issue.record("\(query)")
            }
        }
        let date = Date(timeIntervalSince1970: 5)
        let open = Sample.where { !$0.flag && $0.text.hasPrefix("B") }.order { $0.due }.order(descending: true) {
            $0.int
        }
        .skip(3).limit(50)
        expect(open, .and([.not(.column("flag")), .column("text").hasPrefix("B")]))
        #expect(open.query.order == [OrderTerm("due"), OrderTerm("int", descending: true)])
        #expect(open.query.skip == 3 && open.query.limit == 50)
        expect(Sample.all, nil)
        expect(Sample.where { $0.flag }, .column("flag"))
        expect(
            Sample.where { $0.flag && $0.due < date || $0.note == nil },
            (.column("flag") && .column("due") < date) || .column("note") == .null)
        expect(Sample.where { $0.kind == .note }, .column("kind") == "note")
        expect(Sample.where { $0.priority >= .high }, .column("priority") >= 1)
        expect(Sample.where { $0.parent == "p" }, .column("parent") == "p")
        expect(Sample.where { $0.parent.isIn(["p"] as [Sample.ID]) }, .membership(.column("parent"), ["p"]))
        expect(Sample.where { $0.int8.isBetween(1, and: 2) }, .column("int8").isBetween(1, and: 2))
        expect(Sample.where { $0.note.contains("x") }, .column("note").contains("x"))
        expect(Sample.where { $0.flag }.where { $0.int == 1 }, .and([.column("flag"), .column("int") == 1]))
    }
}
