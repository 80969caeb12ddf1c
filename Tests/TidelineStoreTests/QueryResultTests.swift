import Testing
import TidelineConformance
import TidelineStore
import TidelineTestSupport

@Suite("Order, paging, selection and count")
struct QueryResultTests {
    private let schema = TableSchema("Item", columns: [.int("n"), .double("d"), .string("s"), .bool("b")])

    private func result(_ query: TableQuery, _ rows: [Row], schema: TableSchema? = nil) throws -> QueryResult {
        let schema = schema ?? self.schema
        return try Evaluator(schema: schema).result(of: query, over: PackedRows(rows, of: schema))
    }

    @Test("Ascending, nulls come first, then NaN, then numbers; descending reverses this; ties are by ascending id")
    func order() throws {
        let doubles: [Value] = [1.5, .null, .double(.nan), 0.0, .double(-0.0), .double(-.infinity), .null]
        let rows = doubles.enumerated().map { Row(dictionaryLiteral: ("id", .string("i\($0)")), ("d", $1)) }
        let ascending = try result(TableQuery("Item").order(by: "d"), rows.reversed())
        #expect(ascending.rows.map(\.idText) == ["i1", "i6", "i2", "i5", "i3", "i4", "i0"])
        let descending = try result(TableQuery("Item").order(by: "d", descending: true), rows)
        #expect(descending.rows.map(\.idText) == ["i0", "i3", "i4", "i5", "i2", "i1", "i6"])
    }

    @Test("Ids are ordered by the table's rule, integer ids as numbers")
    func idOrder() throws {
        let rows = ["b", "B2", "a", "A1", "C"].map { Row(id: .string($0)) }
        #expect(try result(TableQuery("Item"), rows).rows.map(\.idText) == ["a", "A1", "b", "B2", "C"])
        #expect(
            try result(TableQuery("Item").order(by: "id", descending: true), rows).rows.map(\.idText)
                == ["C", "B2", "b", "A1", "a"])
        var exact = schema
        exact.idMatching = .exact
        #expect(try result(TableQuery("Item"), rows, schema: exact).rows.map(\.idText) == ["A1", "B2", "C", "a", "b"])
        var numbered = schema
        numbered.idType = .int
        let numbers = [10, 9, -1, .max, .min].map { Row(id: .int($0)) }
        #expect(
            try result(TableQuery("Item"), numbers, schema: numbered).rows.map(\.id)
                == [.int(.min), .int(-1), .int(9), .int(10), .int(.max)])
    }

    @Test("Several sort terms apply one after the other")
    func severalKeys() throws {
        let rows: [Row] = [
            ["id": "1", "s": "a", "n": 1], ["id": "2", "s": "b", "n": 1], ["id": "3", "s": "a", "n": 2],
            ["id": "4", "n": 2],
        ]
        let query = TableQuery("Item").order(by: "n", descending: true).order(by: "s")
        #expect(try result(query, rows).rows.map(\.idText) == ["4", "3", "1", "2"])
    }

    @Test("Pages are windows of the result; the count ignores them", arguments: [0, 1, 4, 5, 9], [nil, 0, 1, 3, 9])
    func paging(skip: Int, limit: Int?) throws {
        let rows = (0..<5).map { Row(dictionaryLiteral: ("id", .string("\($0)")), ("n", .int(Int64($0 % 2)))) }
        var query = TableQuery("Item", skip: skip, limit: limit)
        #expect(try result(query, rows).totalCount == nil)
        query.includesTotalCount = true
        let page = try result(query, rows)
        #expect(page.totalCount == 5)
        #expect(page.rows.map(\.idText) == (0..<5).map(String.init).dropFirst(skip).prefix(limit ?? 9).map { $0 })
        #expect(try result(query.filter(.column("n") == 1), rows).totalCount == 2)
    }

    @Test("A result contains the selected columns, id and version, and null for missing values")
    func selection() throws {
        let rows: [Row] = [["id": "1", "s": "a", "version": "v"], ["id": "2", "n": 1, "b": true]]
        let query = TableQuery("Item").filter(.column("b").isNull).select("s", "id", "s")
        #expect(try result(query, rows).rows == [["id": "1", "s": "a", "version": "v"]])
        #expect(try result(TableQuery("Item").select("n"), rows).rows[0] == ["id": "1", "n": .null, "version": "v"])
        #expect(
            try result(TableQuery("Item"), rows).rows[1].columnNames.sorted() == schema.allColumns.map(\.name).sorted())
    }

    @Test("Columns that a row's shape lacks read as null")
    func olderShape() throws {
        var packed = PackedRows(shape: RowShape(table: "Item", columns: [.bool("b"), .string("s")]))
        try packed.append(["id": "2", "s": "x", "b": true])
        try packed.append(["id": "1", "s": "y"])
        let query = TableQuery("Item").filter(.column("n").isNull && .column("s") != .null).order(by: "d").select(
            "n", "s")
        let found = try Evaluator(schema: schema).result(of: query, over: packed)
        #expect(
            found.rows == [
                ["id": "1", "n": .null, "s": "y", "version": .null],
                ["id": "2", "n": .null, "s": "x", "version": .null],
            ])
    }

    @Test("Generated queries are valid, reproducible from the seed, and find rows", arguments: 0..<40 as Range<UInt64>)
    func generated(seed: UInt64) throws {
        var source = RandomRows(seed: seed)
        let schema = source.schema()
        try schema.validate()
        let rows = source.rows(20, of: schema)
        var again = RandomRows(seed: seed)
        #expect(again.schema() == schema)
        #expect(again.rows(20, of: schema) == rows)
        var queries = RandomQuery(seed: seed, schema: schema, rows: rows)
        var found = 0
        for _ in 0..<30 { found += try result(queries.next(), rows, schema: schema).rows.count }
        #expect(found > 0)
    }
}
