import Testing
import TidelineStore

@testable import TidelineKeyValue

/// Tests that each shape of query gets the expected access path.
@Suite struct QueryPlannerTests {
    private static let schema = TableSchema(
        "Item",
        columns: [
            .string("text"), .bool("complete"), .timestamp("due"), .int("priority"), .double("weight"), .json("tags"),
            .bytes("blob"), .string("list"),
        ],
        indexes: [
            ["complete", "due"], ["priority"], ["text"], ["weight"], ["list", "id"], ["tags"], ["blob", "priority"],
        ])

    private static func plan(
        _ query: TableQuery, ids: TableSchema.IDType = .string, matching: TableSchema.IDMatching = .asciiCaseInsensitive
    )
        throws -> String
    {
        var schema = schema
        schema.idType = ids
        schema.idMatching = matching
        let table = StoredTable(testing: schema)
        try query.validate(against: schema)
        return QueryPlan(QueryPlanner(query, of: table, purpose: .rows).plan(), for: query, of: table).description
    }

    private static func plan(_ predicate: RowPredicate) throws -> String {
        try plan(TableQuery("Item", predicate: predicate))
    }

    private static let open = RowPredicate.column("complete") == false
    private static let priority = RowPredicate.column("priority")
    private static let id = RowPredicate.column("id")

    // MARK: Ids

    @Test func idsAreLookedUp() throws {
        #expect(try Self.plan(Self.id == "x") == "Item: lookup of 1 id, id = \"x\"")
        #expect(try Self.plan("x" == Self.id && Self.open).hasPrefix("Item: lookup of 1 id, \"x\" = id; filter: "))
        #expect(try Self.plan(Self.id.isIn(["b", "a", "A", .null])).hasPrefix("Item: lookup of 2 ids"))
        #expect(try Self.plan(Self.id == "x" || Self.id == "y").hasPrefix("Item: lookup of 2 ids"))
        #expect(try Self.plan(Self.id.equalsIgnoringCase("X")).hasPrefix("Item: lookup of 1 id"))
        #expect(try Self.plan(Self.id >= "x" && Self.id <= "x").hasPrefix("Item: lookup of 1 id"))
    }

    @Test func idsThatNoRowCanHaveAreNotLookedFor() throws {
        for predicate in [
            Self.id.isNull, Self.id.isIn([]), Self.id == "x" && Self.id == "y", Self.id < .null, false,
            Self.id == "x" && .not(true), .or([]), .null, Self.id.isIn([.null]), .not(.and([])),
        ] as [RowPredicate] {
            #expect(try Self.plan(predicate) == "Item: no row can match", "\(predicate)")
        }
    }

    @Test func rangesOfIdsAreWalked() throws {
        #expect(try Self.plan(Self.id > "a" && Self.id <= "b") == "Item: range of ids, id > \"a\" and id <= \"b\"")
        // A function receives the id as it is stored, so the range contains more rows than match.
        #expect(
            try Self.plan(Self.id.hasPrefix("A"))
                == "Item: range of ids, id startsWith \"A\"; filter: id startsWith \"A\"")
        let query = TableQuery("Item", predicate: Self.id.hasPrefix("A"))
        #expect(try Self.plan(query, matching: .exact) == "Item: range of ids, id startsWith \"A\"")
        let newest = TableQuery("Item", predicate: Self.id > 5).order(by: "id", descending: true).limit(1)
        #expect(try Self.plan(newest, ids: .int) == "Item: range of ids, id > 5, in order of id descending")
    }

    // MARK: Equalities

    @Test func equalityGoesByTheIndex() throws {
        #expect(try Self.plan(Self.priority == 3) == "Item: index (priority), priority = 3")
        #expect(try Self.plan(3.0 == Self.priority) == "Item: index (priority), 3.0 = priority")
        #expect(try Self.plan(!(Self.priority != 3)) == "Item: index (priority), priority = 3")
        #expect(try Self.plan(Self.priority.isNull) == "Item: index (priority), priority = null")
        #expect(
            try Self.plan(Self.priority.isIn([1, 2])) == "Item: index (priority), priority in (1, 2); sorts by id")
        #expect(try Self.plan(.column("complete")) == "Item: index (complete, due), complete; sorts by id")
        #expect(try Self.plan(!.column("complete")).hasPrefix("Item: index (complete, due), not (complete)"))
        #expect(try Self.plan(.column("weight") == 0.0) == "Item: index (weight), weight = 0.0")
        #expect(try Self.plan(.column("tags") == .literal(.json("[]"))) == "Item: index (tags), tags = \"[]\"")
        #expect(try Self.plan(.column("blob") == .literal(.bytes([0, 255]))).hasPrefix("Item: index (blob, priority)"))
    }

    @Test func moreEqualitiesWinOverFewer() throws {
        let due = RowPredicate.column("due") == .literal(.timestamp(.max))
        #expect(
            try Self.plan(Self.priority == 1 && Self.open && due)
                == "Item: index (complete, due), complete = false and due = \(Timestamp.max); filter: priority = 1")
    }

    @Test func comparisonsThatNeverHoldFindNothing() throws {
        for predicate in [
            Self.priority == 11.1, Self.priority == .literal(.double(.nan)),
            Self.priority > .literal(.double(.infinity)),
            Self.priority < .null, Self.priority > 5 && Self.priority < 5,
            .column("weight") < .literal(.double(-.infinity)), .column("weight") == .value(Int64(1 << 53 + 1)),
            .column("text") == "a" && .column("text") == "b",
            .column("complete") && !.column("complete"),
        ] as [RowPredicate] {
            #expect(try Self.plan(predicate) == "Item: no row can match", "\(predicate)")
        }
    }

    // MARK: Ranges and prefixes

    @Test func rangesAndPrefixesGoByTheIndex() throws {
        #expect(
            try Self.plan(Self.priority.isBetween(1, and: 5.5))
                == "Item: index (priority), priority >= 1 and priority <= 5.5; sorts by id")
        #expect(
            try Self.plan(Self.open && .column("due") < .literal(.timestamp(.max)))
                == "Item: index (complete, due), complete = false and due < \(Timestamp.max); sorts by id")
        #expect(
            try Self.plan(.column("text").hasPrefix("a\0"))
                == "Item: index (text), text startsWith \"a\\0\"; sorts by id")
        #expect(try Self.plan(Self.priority < 1 || Self.priority > 5).hasPrefix("Item: index (priority), "))
        #expect(
            try Self.plan(.column("list") == "a" && Self.id > "x")
                == "Item: index (list, id), list = \"a\" and id > \"x\"")
        #expect(
            try Self.plan(Self.priority == 1 && Self.id > "x") == "Item: index (priority), priority = 1 and id > \"x\"")
    }

    @Test func conditionsThatCutNothingOutChooseNoIndex() throws {
        for predicate in [
            Self.priority != 3, Self.priority.isNotNull, !(Self.priority < 3), .column("text").contains("x"),
            Self.priority + 1 == 2, Self.priority == .column("weight"), Self.priority == 1 || .column("weight") == 2,
        ] as [RowPredicate] {
            #expect(try Self.plan(predicate).hasPrefix("Item: scan of all rows; filter: "), "\(predicate)")
        }
    }

    // MARK: Order

    @Test(arguments: [
        (TableQuery("Item"), "Item: scan of all rows"),
        (TableQuery("Item").order(by: "id", descending: true), "Item: scan of all rows, in order of id descending"),
        (TableQuery("Item").order(by: "priority"), "Item: index (priority), in order of priority"),
        (
            TableQuery("Item").order(by: "priority", descending: true).order(by: "id").order(by: "text"),
            "Item: index (priority), in order of priority descending, id, text"
        ),
        (
            TableQuery("Item", predicate: open).order(by: "due").limit(50),
            "Item: index (complete, due), complete = false, in order of due"
        ),
        (
            TableQuery("Item", predicate: open && .column("text").contains("x")).order(by: "due", descending: true),
            "Item: index (complete, due), complete = false, in order of due descending; filter: text contains \"x\""
        ),
        (
            TableQuery("Item", predicate: .column("complete").isIn([true, false])).order(by: "complete").order(
                by: "due"),
            "Item: index (complete, due), complete in (true, false), in order of complete, due"
        ),
        (
            TableQuery("Item", predicate: priority > 3).order(by: "priority", descending: true).limit(2),
            "Item: index (priority), priority > 3, in order of priority descending"
        ),
        (
            TableQuery("Item").order(by: "list").order(by: "id", descending: true),
            "Item: scan of all rows; sorts by list, id descending"
        ),
        (TableQuery("Item").order(by: "list"), "Item: index (list, id), in order of list"),
        (
            TableQuery("Item").order(by: "list", descending: true).order(by: "id", descending: true),
            "Item: index (list, id), in order of list descending, id descending"
        ),
        (
            TableQuery("Item").order(by: "complete").limit(50).skip(10),
            "Item: scan of all rows; keeps the first 60 by complete"
        ),
        (
            TableQuery("Item").order(by: "priority").order(by: "text", descending: true).skip(.max).limit(.max),
            "Item: scan of all rows; keeps the first \(Int.max) by priority, text descending"
        ),
        (
            TableQuery("Item", predicate: .column("text").contains("x")).order(by: "priority").limit(5),
            "Item: index (priority), in order of priority; filter: text contains \"x\""
        ),
        (
            // The count examines every row, so the index saves no work.
            TableQuery("Item", predicate: .column("text").contains("x")).order(by: "priority").limit(5)
                .includingTotalCount(),
            "Item: scan of all rows; filter: text contains \"x\"; keeps the first 5 by priority"
        ),
        (
            TableQuery("Item", predicate: id == "x").order(by: "text", descending: true),
            "Item: lookup of 1 id, id = \"x\", in order of text descending"
        ),
    ])
    func ordersComeFromIndexesWhereTheyCan(_ query: TableQuery, _ expected: String) throws {
        #expect(try Self.plan(query) == expected)
    }

    @Test func conditionsReadAsTheyAreWritten() throws {
        let (n, text) = (Self.priority, RowPredicate.column("text"))
        #expect(
            try Self.plan(n + 1 > 2 && n - 1 < n * 2 && (n / 2 <= 3 || n % 2 != 0) && !text.contains("x"))
                == "Item: scan of all rows; filter: (priority + 1) > 2 and (priority - 1) < (priority * 2) and "
                + "((priority / 2) <= 3 or (priority % 2) != 0) and not (text contains \"x\")")
    }

    @Test func longConditionsAreCutShort() throws {
        let terms = (0..<2_000).map { RowPredicate.column("text").contains(.value("\($0)")) }
        var deep = RowPredicate.column("text").contains("x")
        for _ in 0..<500 { deep = .or([.and([deep, Self.open]), Self.open]) }
        for predicate in [.or(terms), deep, .column("text").contains(.value(String(repeating: "y", count: 9_000)))] {
            #expect(try Self.plan(predicate).count < 500)
        }
    }
}
