import Testing
import TidelineStore
import TidelineTestStores

@testable import TidelineKeyValue

private let items = TableQuery("Item")
private let id = RowPredicate.column("id")
private let text = RowPredicate.column("text")
private let priority = RowPredicate.column("priority")
private let complete = RowPredicate.column("complete")
private let isOpen = complete == false

/// Tests that a query does no more work than its result requires.
@Suite struct QueryWorkTests {
    private let fixture: QueryFixture

    init() throws { fixture = try Self.makeFixture() }

    private static let schema = TableSchema(
        "Item", columns: [.string("text"), .bool("complete"), .int("priority")], systemColumns: [],
        indexes: [["complete", "priority"], ["priority"]])

    /// A thousand rows, five of each priority.
    private static func makeFixture() throws -> QueryFixture {
        let rows = (0..<1_000).map { number in
            [
                "id": .string("id-\(1_000 + number)"), "text": .string("text \(number)"),
                "complete": .bool(number % 2 == 0), "priority": .int(Int64(number % 200)),
            ] as Row
        }
        return try QueryFixture(schema, rows)
    }

    @Test(arguments: [
        (items.limit(3), 3, 0),
        (items.skip(10).limit(3), 13, 0),
        (items.limit(0), 0, 0),
        (items.order(by: "id", descending: true).limit(3), 3, 0),
        (items.order(by: "priority").skip(20).limit(3), 23, 3),
        (items.filter(isOpen).order(by: "priority").limit(3), 3, 3),
        (items.filter(priority == 7), 5, 5),
        // The first group is collected, and one more key shows that the group has ended.
        (items.order(by: "priority", descending: true).limit(3), 6, 3),
        (items.filter(id.isIn(["id-1001", "ID-1001", "id-1002", "x"])), 0, 3),
        (items.filter(priority == 7 && priority == 8), 0, 0),
        (items.limit(2).includingTotalCount(), 2, 0),
        (items.limit(0).includingTotalCount(), 0, 0),
        // The count scans the rest of the index, but reads none of its rows.
        (items.filter(priority < 10).order(by: "priority").limit(2).includingTotalCount(), 50, 2),
        (items.filter(priority < 10).limit(0).includingTotalCount(), 50, 0),
    ])
    func scansEndAsSoonAsNothingMoreIsWanted(_ query: TableQuery, _ scanned: Int, _ lookedUp: Int) throws {
        fixture.entries.forgetCounts()
        _ = try fixture.result(of: query)
        #expect(fixture.entries.scanned == scanned)
        #expect(fixture.entries.lookedUp == lookedUp)
    }

    @Test func aBodyThatStopsEndsTheScanAndItsErrorPassesUnchanged() throws {
        struct Refusal: Error {}
        for query in [
            items, items.filter(text.contains("1")).order(by: "priority"), items.order(by: "text", descending: true),
            items.filter(id.isIn(["id-1001"])), items.order(by: "priority", descending: true), items.select("text"),
        ] {
            for isWriting in [false, true] {
                var called = 0
                _ = try fixture.scan(query, isWriting: isWriting) { _ in
                    called += 1
                    return .stop
                }
                #expect(called == 1, "\(query)")
                #expect(throws: Refusal.self) {
                    try fixture.scan(query, isWriting: isWriting) { _ in throw Refusal() }
                }
            }
        }
        fixture.entries.forgetCounts()
        _ = try fixture.scan(items) { _ in .stop }
        #expect(fixture.entries.scanned == 1)
    }

    @Test func theTotalIsWholeWhenABodyStops() throws {
        for query in [
            items, items.filter(text.contains("1")), items.filter(priority < 9),
            items.filter(priority < 9).order(by: "text"),
        ] {
            let expected = try fixture.count(query)
            for isWriting in [false, true] {
                let total = try fixture.scan(query.limit(5).skip(2).includingTotalCount(), isWriting: isWriting) { _ in
                    .stop
                }
                #expect(total == expected, "\(query)")
            }
        }
    }

    /// A body that deletes the rows it receives does not change the total count.
    @Test func theTotalIsOfBeforeTheBody() throws {
        var rowCount = 1_000
        let run = try fixture.run(items.limit(5).includingTotalCount(), isWriting: true)
        let rows = { rowCount }
        let total = try run.scan(rowCount: rows) { _ in
            rowCount -= 1
            return .next
        }
        #expect(total == 1_000)
    }

    @Test func countsReadNoMoreThanTheyMust() throws {
        fixture.entries.forgetCounts()
        #expect(try fixture.run(items.limit(1)).count(rowCount: { 77 }) == 77)
        #expect(fixture.entries.scanned == 0)
        #expect(try fixture.count(items.filter(isOpen).order(by: "text").skip(7).limit(1)) == 500)
        #expect(fixture.entries.scanned == 500 && fixture.entries.lookedUp == 0)
        #expect(try fixture.count(items.filter(isOpen && text.contains("9"))) > 0)
        #expect(fixture.entries.lookedUp == 500)
    }

    @Test(arguments: [
        items, items.order(by: "priority", descending: true), items.order(by: "text"),
        items.filter(id.isIn(["id-1001", "id-1002"])), items.select("priority"), items.includingTotalCount(),
        items.filter(isOpen).includingTotalCount(),
    ])
    func aBodyThatMayWriteSeesWhatWasFoundBefore(_ query: TableQuery) throws {
        let expected = try fixture.result(of: query).rows.map(\.idText)
        var seen: [String] = []
        _ = try fixture.scan(query, isWriting: true) { row in
            // Delete all rows at the first call: the following rows no longer exist in the store.
            if seen.isEmpty {
                for number in 1_000..<2_000 { try fixture.delete(fixture.rowKey(.string("id-\(number)"))) }
            }
            seen.append(row.idText)
            return .next
        }
        #expect(seen == expected)
    }

    // MARK: Order

    @Test(arguments: [0, 1, 255, 256, 257, 600])
    func tiesComeByAscendingIDWhateverTheDirection(_ tied: Int) throws {
        let rows = (0..<700).map { number in
            [
                "id": "id-\(1_000 + number)", "priority": number < tied ? 5 : number % 9,
                "complete": number % 3 == 0,
            ] as Row
        }
        let packed = try PackedRows(rows, of: Self.schema)
        let fixture = try QueryFixture(Self.schema, packed)
        for query in [
            items.order(by: "priority", descending: true), items.filter(isOpen).order(by: "priority", descending: true),
            items.filter(complete.isIn([true, false])).order(by: "complete", descending: true)
                .order(by: "priority", descending: true),
            items.filter(priority.isIn([5, 3]) && id > "id-1100").order(by: "priority", descending: true),
        ] {
            for (skip, limit) in [(0, nil), (0, 10), (250, 20), (590, nil), (0, 300)] as [(Int, Int?)] {
                var query = query
                (query.skip, query.limit) = (skip, limit)
                let expected = try fixture.table.evaluator.result(of: query, over: packed)
                let plan = try fixture.run(query).plan
                #expect(plan.ordering == .native)
                #expect(try fixture.result(of: query).rows.map(\.id) == expected.rows.map(\.id), "\(plan)")
            }
        }
    }

    /// Ids that are prefixes of other ids, found in another order than theirs.
    @Test func tiesAmongTheFirstOfManyComeByID() throws {
        let rows = (0..<300 as Range<Int64>).map { (number: Int64) -> Row in
            let text = number % 7 == 0 ? "b" : "a"
            return ["id": .string("\(number)"), "text": .string(text), "priority": .int(number * 131 % 300)]
        }
        let packed = try PackedRows(rows, of: Self.schema)
        let fixture = try QueryFixture(Self.schema, packed)
        for limit in [1, 3, 20, 150, 299] {
            for term in [OrderTerm("text"), OrderTerm("text", descending: true), OrderTerm("complete")] {
                let query = TableQuery("Item", predicate: priority >= 0, order: [term], limit: limit)
                #expect(try fixture.run(query).plan.ordering == .keep(limit))
                let expected = try fixture.table.evaluator.result(of: query, over: packed)
                #expect(try fixture.result(of: query).rows.map(\.id) == expected.rows.map(\.id))
            }
        }
    }

    // MARK: Damage

    @Test func anIndexThatItsRowsContradictIsCorrupt() throws {
        func expectCorrupt(_ damage: (QueryFixture) throws -> Void) throws {
            let fixture = try Self.makeFixture()
            try damage(fixture)
            let error = expectError(.corrupt) { _ = try fixture.result(of: items.filter(priority == 7)) }
            #expect(error?.table == "Item")
        }
        var key = KeyBuilder(KeySpace(number: 21))
        key.append(.int(7))
        let beginning = key.bytes
        // A missing row; a row with another value; an id that no key contains; a malformed row.
        try expectCorrupt { try $0.delete($0.rowKey(.string("id-1007"))) }
        try expectCorrupt { try $0.put(beginning + Array("id-1008".utf8), []) }
        try expectCorrupt { try $0.put(beginning + Array("ID-1007".utf8), []) }
        try expectCorrupt { try $0.put($0.rowKey(.string("id-1007")), [1, 2, 3]) }
    }
}
