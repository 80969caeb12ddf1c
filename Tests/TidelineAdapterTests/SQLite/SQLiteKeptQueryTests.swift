import Testing
import TidelineStore

@testable import TidelineSQLite

private let rows = TableQuery("t")
private let (n, s, d) = (RowPredicate.column("n"), RowPredicate.column("s"), RowPredicate.column("d"))

/// Tests that a compiled query is reused for queries that differ only in their values.
@Suite struct SQLiteKeptQueryTests {
    private static let schema = TableSchema(
        "t", columns: [.string("s"), .int("n"), .double("d"), .bool("b"), .int("caf\u{E9}")])

    private static let alike: [(TableQuery, TableQuery)] = [
        (rows, rows), (rows.filter(n == 1), rows.filter(n == 2)),
        (
            rows.filter(s.isIn(["a", "b"]) && n + 1 > 2).limit(5),
            rows.filter(s.isIn(["c", "d"]) && n + 3 > 4).skip(2).limit(6)
        ),
        (
            rows.filter(!(n.isIn([.null, .int(1)])) || s.contains("x")),
            rows.filter(!(n.isIn([.null, .int(7)])) || s.contains("y"))
        ),
        (rows.filter(d < 1.5).select("s").order(by: "n"), rows.filter(d < 2.5).select("s").order(by: "n")),
        (
            rows.filter(.column("caf\u{E9}").isNull).select("caf\u{E9}").order(by: "caf\u{E9}"),
            rows.filter(.column("cafe\u{301}").isNull).select("cafe\u{301}").order(by: "cafe\u{301}")
        ),
    ]

    @Test(arguments: alike.indices)
    func theValuesAreThoseOfTheNewQuery(_ index: Int) throws {
        let (first, second) = Self.alike[index]
        let table = StoredTable(Self.schema)
        for purpose in [KeptQuery.Purpose.rows, .count] {
            let (kept, _) = try KeptQuery.compile(first, for: purpose, of: table)
            let (compiled, parameters) = try KeptQuery.compile(second, for: purpose, of: table)
            #expect(kept.statement.sql.utf8.elementsEqual(compiled.statement.sql.utf8))
            #expect(kept.parameters(of: second, for: purpose) == parameters)
        }
    }

    private static let unlike: [(TableQuery, TableQuery)] = [
        (rows, rows.filter(n == 1)), (rows.filter(n == 1), rows.filter(n == .null)),
        (rows.filter(n == 1), rows.filter(n == 1.5)),
        (rows.filter(d == 1.5), rows.filter(d == .literal(.double(.nan)))),
        (rows.filter(d == .literal(.double(.nan))), rows.filter(d == 1.5)),
        (rows.filter(n < 1), rows.filter(n <= 1)), (rows.filter(n.isIn([1])), rows.filter(n.isIn([1, 2]))),
        (rows.filter(n.isIn([1, 2])), rows.filter(n.isIn([1, .null]))), (rows, rows.limit(1)), (rows, rows.skip(1)),
        (rows.limit(1), rows.limit(-1)), (rows, rows.order(by: "n")), (rows, rows.select("n")),
    ]

    @Test(arguments: unlike.indices)
    func anotherTextIsCompiled(_ index: Int) throws {
        let (first, second) = Self.unlike[index]
        let table = StoredTable(Self.schema)
        let (kept, _) = try KeptQuery.compile(first, for: .rows, of: table)
        #expect(kept.parameters(of: second, for: .rows) == nil)
        #expect(kept.parameters(of: first, for: .count) == nil)
    }

    @Test func whatIsNotValidIsRefusedBehindAQueryThatIs() throws {
        let store = try SQLiteStore.inMemory()
        try store.define([Self.schema])
        try store.read { reader in
            let valid = TableQuery("t", predicate: .column("n") == 1, limit: 1)
            let found = (rows: try reader.rows(matching: valid).rows, count: try reader.count(valid))
            #expect(found.rows.isEmpty && found.count == 0)
            #expect(throws: StoreError.self) { try reader.rows(matching: valid.skip(-1)) }
            #expect(throws: StoreError.self) { try reader.count(valid.limit(-1)) }
            #expect(throws: StoreError.self) { try reader.count(valid.order(by: "none")) }
        }
    }

    /// Deeply nested conditions are compiled in another order than they are written, and one with NaN is omitted.
    @Test(arguments: [false, true])
    func valuesReachTheirPlaceWhereTheTextHasAnotherOrder(_ again: Bool) throws {
        let store = try SQLiteStore.inMemory()
        try store.define([Self.schema])
        try store.write { writer in
            try writer.upsert((0..<100).map { ["id": .string("\($0)"), "n": .int($0), "s": "x", "d": 1.0] }, into: "t")
        }
        func found(_ number: Int64, _ limit: Int) throws -> [String] {
            let query = TableQuery("t", predicate: Self.deep(number), limit: limit)
            return try store.read { try $0.rows(matching: query).rows.map(\.idText) }
        }
        if again { #expect(try found(70, 1) == ["70"]) }
        #expect(try found(7, 3) == ["7"])
    }

    /// Returns a predicate that matches only the row with the given number.
    private static func deep(_ number: Int64) -> RowPredicate {
        var result = RowPredicate.column("n") == .literal(.int(number))
        for level in Int64(1)...15 {
            let other = RowPredicate.literal(.int(number + 1000 * level))
            result = level % 2 == 0 ? .column("n") != other && result : .column("n") == other || result
        }
        return .column("d") != .literal(.double(.nan)) && .column("s").isIn(["x", "y"]) && result
    }

    @Test func aStatementInUseServesTheSameQueryOnceMore() throws {
        let store = try SQLiteStore.inMemory()
        try store.define([Self.schema])
        try store.write { try $0.upsert((1...3).map { Row(id: .string("\($0)")) }, into: "t") }
        let pairs = try store.read { reader in
            var pairs: [String] = []
            try reader.scan(TableQuery("t")) { outer in
                try reader.scan(TableQuery("t")) { inner in
                    pairs.append(outer.idText + inner.idText)
                    return .next
                }
                _ = try reader.withRow(in: "t", id: .string("1")) { first in
                    try reader.withRow(in: "t", id: .string("2")) {
                        pairs.append(first.idText + $0.idText + outer.idText)
                    }
                }
                return .next
            }
            return pairs
        }
        #expect(pairs == ["11", "12", "13", "121", "21", "22", "23", "122", "31", "32", "33", "123"])
    }
}
