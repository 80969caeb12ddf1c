import Foundation
import Testing
import TidelineStore

private enum Priority: Int, ColumnValue { case low, high }
private enum Kind: String, ColumnValue { case task, note }

@Suite("Swift values in rows, predicates, and orders")
struct ColumnValueTests {
    private let id = UUID(uuidString: "0B8E0C6D-9D2C-4B6E-8A51-1C8A0F4C2E11")!
    private let date = Date(timeIntervalSince1970: 86_400)
    private let url = URL(string: "https://example.com/a?b=c")!
    private let missing: Date? = nil

    @Test("A row literal mixes variables of any column value, literals, and values")
    func rowLiteral() {
        let (data, share, priority) = (Data([1, 2]), Float(0.5), Priority.high)
        let row: Row = [
            "id": id, "due": date, "photo": data, "link": url, "share": share, "priority": priority,
            "kind": Kind.note, "missing": missing, "given": Optional(date), "text": "Buy milk", "complete": false,
            "count": 3, "ratio": 1.5, "note": .null, "json": .json("[1]"), "big": .int(.max), "raw": [UInt8](data),
            "value": Value.int(7),
        ]
        let due = Value.timestamp(Timestamp(date))
        let expected: [(String, Value)] = [
            ("id", .string(id.uuidString.lowercased())), ("due", due), ("photo", .bytes([1, 2])),
            ("link", .string("https://example.com/a?b=c")), ("share", .double(0.5)), ("priority", .int(1)),
            ("kind", .string("note")), ("missing", .null), ("given", due), ("text", .string("Buy milk")),
            ("complete", .bool(false)), ("count", .int(3)), ("ratio", .double(1.5)), ("note", .null),
            ("json", .json("[1]")), ("big", .int(.max)), ("raw", .bytes([1, 2])), ("value", .int(7)),
        ]
        for (name, value) in expected { #expect(row[name] == value, "\(name)") }
    }

    @Test("Every type comes back from a typed column")
    func typedColumns() {
        var row = Row(id: "1")
        func check<T: ColumnValue & Equatable>(_ value: T) {
            row[Column<T>("c")] = value
            #expect(row["c"]?.type == T.columnType)
            #expect(row[Column<T>("c")] == value)
            row["c"] = T.columnType == .json ? .int(1) : .json("[]")
            #expect(row[Column<T>("c")] == nil)
        }
        check(id)
        check(date)
        check(url)
        check(Data([0, 255]))
        check(Float(0.1))
        check(Priority.low)
        check(Kind.task)
        row["c"] = 2
        #expect(row[Column<Priority>("c")] == nil && row[Column<String>("c")] == nil)
        #expect(row[Column<Int>("c")] == 2 && row[Column<Double>("c")] == 2)
        row[Column<String>("c")] = nil
        #expect(row["c"] == .null)
        row["c"] = "x"
        #expect(row[Column<UUID>("c")] == nil)
        row["c"] = .double(1e300)
        #expect(row[Column<Float>("c")] == nil)
        row["c"] = .null
        #expect(row[Column<Int?>("c")] == .some(nil))
        #expect(row[Column<Int?>("absent")] == nil)
    }

    @Test("A float is stored as the double with the same decimal digits, and read back unchanged")
    func floats() {
        #expect(Float(0.1).columnValue == .double(0.1))
        var random = SystemRandomNumberGenerator()
        var floats: [Float] = [.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0]
        for _ in 0..<10_000 { floats.append(Float(bitPattern: .random(in: .min ... .max, using: &random))) }
        for float in floats {
            #expect(float.isNaN || Float(columnValue: float.columnValue) == float)
        }
    }

    @Test("Equal sets and dictionaries have equal JSON, whatever the order of their elements in memory")
    func unordered() throws {
        let small = Set(0..<40)
        var large = Set<Int>(minimumCapacity: 10_000)
        large.formUnion(small)
        #expect(small == large && Array(small) != Array(large))
        #expect(small.columnValue == large.columnValue)
        #expect(Set([2, 10, 1]).columnValue == .json("[1,10,2]"))
        #expect(Set<Int>(columnValue: small.columnValue) == small)
        #expect(Set<String>(["b", "a\"", "ä"]).columnValue == .json(#"["a\"","b","ä"]"#))
        #expect(Set<Int>().columnValue == .json("[]"))
        let ids = (0..<40).map { _ in UUID() }
        let (first, second) = (
            Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) }),
            Dictionary(uniqueKeysWithValues: ids.reversed().map { ($0, 1) })
        )
        #expect(first.columnValue == second.columnValue)
        #expect([UUID: Int](columnValue: first.columnValue) == first)
        #expect(["b": 1, "a": 2].columnValue == .json(#"{"a":2,"b":1}"#))
        #expect([String: Int]().columnValue == .json("{}"))
    }

    @Test("A predicate compares with any column value, and with lists of them")
    func predicates() {
        func expect(_ predicate: RowPredicate, _ expected: RowPredicate) {
            #expect(predicate.isIdentical(to: expected))
        }
        expect(.column("due") < date, .comparison(.less, .column("due"), .literal(.timestamp(Timestamp(date)))))
        expect(.column("due") != missing, .comparison(.notEqual, .column("due"), .literal(.null)))
        expect(.column("kind") == Kind.task, .comparison(.equal, .column("kind"), .literal(.string("task"))))
        let text = TidelineStore.Value.string(id.uuidString.lowercased())
        expect(.column("id").isIn([id]), .membership(.column("id"), [text]))
        expect(Column<UUID?>("key") == id, .comparison(.equal, .column("key"), .literal(text)))
        expect(Column<Float>("share") == 0.1, .comparison(.equal, .column("share"), .literal(0.1)))
        expect(.column("n").isIn(Set([1])), .membership(.column("n"), [.int(1)]))
        expect(.column("n").isIn([1, .null]), .membership(.column("n"), [.int(1), .null]))
        expect(.column("n").isIn([]), .membership(.column("n"), []))
    }

    @Test("A typed column is an operand of a predicate and a term of an order")
    func typedColumnsInQueries() {
        let (complete, due, text) = (Column<Bool>("complete"), Column<Date>("due"), Column<String>("text"))
        let query = TableQuery("TodoItem")
            .filter(complete == true && due < date && text.isIn(["a", "b"]) || due == nil && !text.isNull)
            .filter(.column(text).hasPrefix("B")).order(by: due, descending: true).order(by: "text")
        let untyped = TableQuery("TodoItem")
            .filter(
                .column("complete") == true && .column("due") < date && .column("text").isIn(["a", "b"])
                    || .column("due") == .null && !.column("text").isNull
            )
            .filter(.column("text").hasPrefix("B")).order(by: "due", descending: true).order(by: "text")
        #expect(query.predicate!.isIdentical(to: untyped.predicate!))
        #expect(query.order == untyped.order)
    }

    @Test("A chain of conditions of literals and variables compiles in reasonable time")
    func chain() {
        let (low, high) = (1, 2.5)
        let predicate: RowPredicate =
            .column("a") == 1 && .column("b") == "x" || .column("c") != false && .column("d") >= 2.5
            || .column("e") < date && .column("f") == .null || .column("g") == low && .column("h") == high
            || .column("i").isIn([1, 2]) && .column("j").hasPrefix("k")
        guard case .or(let terms) = predicate else {
            Issue.record("the chain is not flat")
            return
        }
        #expect(terms.count == 5)
    }

    @Test("Equal rows have the same hash, whatever the order of their columns")
    func equalRowsHashEqually() throws {
        let rows: [Row] = [["id": "1", "a": 1, "b": "x", "c": -0.0], ["c": 0.0, "b": "x", "id": "1", "a": 1]]
        #expect(rows[0] == rows[1])
        #expect(rows[0].hashValue == rows[1].hashValue)
        let schema = TableSchema("T", columns: [.int("a"), .string("b"), .double("c")])
        var packed = PackedRows(shape: schema.makeShape())
        try packed.append(rows[1])
        #expect(packed.withRow(at: 0) { $0.owned() }.hashValue == rows[0].hashValue)
    }

    @Test("Rows that differ in one column have different hashes")
    func hashDependsOnContent() {
        var hashes: Set<Int> = []
        for number in 0..<20_000 { hashes.insert((["text": "same", "n": number] as Row).hashValue) }
        #expect(hashes.count > 19_990)
        let swapped: Set<Int> = [(["a": 1, "b": 2] as Row).hashValue, (["a": 2, "b": 1] as Row).hashValue]
        #expect(swapped.count == 2)
        #expect(Set((0..<20_000).map { ["text": "same", "n": $0] as Row }).count == 20_000)
    }
}
