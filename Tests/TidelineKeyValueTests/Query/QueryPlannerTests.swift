import Testing
import TidelineStore

@testable import TidelineKeyValue

private let items = TableQuery("Item")
private let id = RowPredicate.column("id")
private let text = RowPredicate.column("text")
private let priority = RowPredicate.column("priority")
private let complete = RowPredicate.column("complete")
private let weight = RowPredicate.column("weight")
private let due = RowPredicate.column("due")
private let isOpen = complete == false

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

    /// Returns the plan's description, without the name of the table.
    private func plan(
        _ query: TableQuery, ids: TableSchema.IDType = .string, matching: TableSchema.IDMatching = .asciiCaseInsensitive
    ) throws -> String {
        var schema = Self.schema
        schema.idType = ids
        schema.idMatching = matching
        let table = StoredTable(testing: schema)
        try query.validate(against: schema)
        let path = QueryPlanner(query, of: table, purpose: .rows).plan()
        let description = QueryPlan(path, for: query, of: table).description
        try #require(description.hasPrefix("Item: "))
        return String(description.dropFirst("Item: ".count))
    }

    private func plan(_ predicate: RowPredicate) throws -> String { try plan(items.filter(predicate)) }

    // MARK: Ids

    @Test func idsAreLookedUp() throws {
        #expect(try plan(id == "x") == "lookup of 1 id, id = \"x\"")
        #expect(try plan("x" == id && isOpen).hasPrefix("lookup of 1 id, \"x\" = id; filter: "))
        #expect(try plan(id.isIn(["b", "a", "A", .null])).hasPrefix("lookup of 2 ids"))
        #expect(try plan(id == "x" || id == "y").hasPrefix("lookup of 2 ids"))
        #expect(try plan(id.equalsIgnoringCase("X")).hasPrefix("lookup of 1 id"))
        #expect(try plan(id >= "x" && id <= "x").hasPrefix("lookup of 1 id"))
    }

    @Test func idsThatNoRowCanHaveAreNotLookedFor() throws {
        for predicate in [
            id.isNull, id.isIn([]), id == "x" && id == "y", id < .null, false,
            id == "x" && .not(true), .or([]), .null, id.isIn([.null]), .not(.and([])),
        ] as [RowPredicate] {
            #expect(try plan(predicate) == "no row can match", "\(predicate)")
        }
    }

    @Test func rangesOfIdsAreWalked() throws {
        #expect(try plan(id > "a" && id <= "b") == "range of ids, id > \"a\" and id <= \"b\"")
        // A function receives the id as it is stored, so the range contains more rows than match.
        #expect(try plan(id.hasPrefix("A")) == "range of ids, id startsWith \"A\"; filter: id startsWith \"A\"")
        let query = items.filter(id.hasPrefix("A"))
        #expect(try plan(query, matching: .exact) == "range of ids, id startsWith \"A\"")
        let newest = items.filter(id > 5).order(by: "id", descending: true).limit(1)
        #expect(try plan(newest, ids: .int) == "range of ids, id > 5, in order of id descending")
    }

    // MARK: Equalities

    @Test func equalityGoesByTheIndex() throws {
        #expect(try plan(priority == 3) == "index (priority), priority = 3")
        #expect(try plan(3.0 == priority) == "index (priority), 3.0 = priority")
        #expect(try plan(!(priority != 3)) == "index (priority), priority = 3")
        let neither = !(priority != 3 || text.contains("x"))
        #expect(try plan(neither) == #"index (priority), priority = 3; filter: not (text contains "x")"#)
        #expect(try plan(priority.isNull) == "index (priority), priority = null")
        #expect(try plan(priority.isIn([1, 2])) == "index (priority), priority in (1, 2); sorts by id")
        #expect(try plan(complete) == "index (complete, due), complete; sorts by id")
        #expect(try plan(!complete).hasPrefix("index (complete, due), not (complete)"))
        #expect(try plan(weight == 0.0) == "index (weight), weight = 0.0")
        #expect(try plan(.column("tags") == .literal(.json("[]"))) == "index (tags), tags = \"[]\"")
        #expect(try plan(.column("blob") == .literal(.bytes([0, 255]))).hasPrefix("index (blob, priority)"))
    }

    @Test func moreEqualitiesWinOverFewer() throws {
        let isDue = due == .literal(.timestamp(.max))
        #expect(
            try plan(priority == 1 && isOpen && isDue)
                == "index (complete, due), complete = false and due = \(Timestamp.max); filter: priority = 1")
    }

    @Test func comparisonsThatNeverHoldFindNothing() throws {
        for predicate in [
            priority == 11.1, priority == .literal(.double(.nan)), priority > .literal(.double(.infinity)),
            priority < .null, priority > 5 && priority < 5, weight < .literal(.double(-.infinity)),
            weight == .value(Int64(1 << 53 + 1)), text == "a" && text == "b", complete && !complete,
        ] as [RowPredicate] {
            #expect(try plan(predicate) == "no row can match", "\(predicate)")
        }
    }

    // MARK: Ranges and prefixes

    @Test func rangesAndPrefixesGoByTheIndex() throws {
        #expect(
            try plan(priority.isBetween(1, and: 5.5))
                == "index (priority), priority >= 1 and priority <= 5.5; sorts by id")
        #expect(
            try plan(isOpen && due < .literal(.timestamp(.max)))
                == "index (complete, due), complete = false and due < \(Timestamp.max); sorts by id")
        #expect(try plan(text.hasPrefix("a\0")) == "index (text), text startsWith \"a\\0\"; sorts by id")
        #expect(try plan(priority < 1 || priority > 5).hasPrefix("index (priority), "))
        #expect(try plan(.column("list") == "a" && id > "x") == "index (list, id), list = \"a\" and id > \"x\"")
        #expect(try plan(priority == 1 && id > "x") == "index (priority), priority = 1 and id > \"x\"")
    }

    @Test func conditionsThatCutNothingOutChooseNoIndex() throws {
        for predicate in [
            priority != 3, priority.isNotNull, !(priority < 3), text.contains("x"),
            priority + 1 == 2, priority == weight, priority == 1 || weight == 2,
        ] as [RowPredicate] {
            #expect(try plan(predicate).hasPrefix("scan of all rows; filter: "), "\(predicate)")
        }
    }

    // MARK: Order

    @Test(arguments: [
        (items, "scan of all rows"),
        (items.order(by: "id", descending: true), "scan of all rows, in order of id descending"),
        (items.order(by: "priority"), "index (priority), in order of priority"),
        (
            items.order(by: "priority", descending: true).order(by: "id").order(by: "text"),
            "index (priority), in order of priority descending, id, text"
        ),
        (items.filter(isOpen).order(by: "due").limit(50), "index (complete, due), complete = false, in order of due"),
        (
            items.filter(isOpen && text.contains("x")).order(by: "due", descending: true),
            "index (complete, due), complete = false, in order of due descending; filter: text contains \"x\""
        ),
        (
            items.filter(complete.isIn([true, false])).order(by: "complete").order(by: "due"),
            "index (complete, due), complete in (true, false), in order of complete, due"
        ),
        (
            items.filter(priority > 3).order(by: "priority", descending: true).limit(2),
            "index (priority), priority > 3, in order of priority descending"
        ),
        (items.order(by: "list").order(by: "id", descending: true), "scan of all rows; sorts by list, id descending"),
        (items.order(by: "list"), "index (list, id), in order of list"),
        (
            items.order(by: "list", descending: true).order(by: "id", descending: true),
            "index (list, id), in order of list descending, id descending"
        ),
        (items.order(by: "complete").limit(50).skip(10), "scan of all rows; keeps the first 60 by complete"),
        (
            items.order(by: "priority").order(by: "text", descending: true).skip(.max).limit(.max),
            "scan of all rows; keeps the first \(Int.max) by priority, text descending"
        ),
        (
            items.filter(text.contains("x")).order(by: "priority").limit(5),
            "index (priority), in order of priority; filter: text contains \"x\""
        ),
        (
            // The count examines every row, so the index saves no work.
            items.filter(text.contains("x")).order(by: "priority").limit(5).includingTotalCount(),
            "scan of all rows; filter: text contains \"x\"; keeps the first 5 by priority"
        ),
        (
            items.filter(id == "x").order(by: "text", descending: true),
            "lookup of 1 id, id = \"x\", in order of text descending"
        ),
    ])
    func ordersComeFromIndexesWhereTheyCan(_ query: TableQuery, _ expected: String) throws {
        #expect(try plan(query) == expected)
    }

    @Test func conditionsReadAsTheyAreWritten() throws {
        let n = priority
        #expect(
            try plan(n + 1 > 2 && n - 1 < n * 2 && (n / 2 <= 3 || n % 2 != 0) && !text.contains("x"))
                == "scan of all rows; filter: (priority + 1) > 2 and (priority - 1) < (priority * 2) and "
                + "((priority / 2) <= 3 or (priority % 2) != 0) and not (text contains \"x\")")
    }

    @Test func longConditionsAreCutShort() throws {
        let terms = (0..<2_000).map { text.contains(.value("\($0)")) }
        var deep = text.contains("x")
        for _ in 0..<500 { deep = .or([.and([deep, isOpen]), isOpen]) }
        for predicate in [.or(terms), deep, text.contains(.value(String(repeating: "y", count: 9_000)))] {
            #expect(try plan(predicate).count < 500)
        }
    }
}
