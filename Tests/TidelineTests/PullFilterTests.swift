import Testing
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Filters of pulls from servers with three-valued logic.
@Suite("Filters of pulls", .releasesClients)
struct PullFilterTests {
    static let filters: [RowPredicate] = [
        .column("priority") != 1, !(.column("priority") == 1), !(.column("priority") < 2),
        !(.column("priority").isIn([1, 3])), !(.column("priority").isIn([1, .null])), .column("priority") != .null,
        !(.column("priority") == 1 && .column("complete") == true), !.column("complete"),
        !(.column("due") > .literal(.timestamp(World.instant(0)))), .column("complete") != true,
        !(.column("text").hasPrefix("a")) || .column("priority") == 2,
        .comparison(.equal, .column("priority") == 1, false),
    ]

    @Test(
        "A6 a pull returns the rows that the same query finds in the local table, also with SQL's three-valued logic",
        arguments: StoreKind.perEngine, allPairs([ServerQuirks.original, []], ["q", nil]))
    func sameRows(_ stores: StoreKind, _ setting: (ServerQuirks, String?)) async throws {
        let (quirks, queryID) = setting
        let world = try World(stores) { $0.reproduce(quirks) }
        var rows: [Row] = []
        for (number, priority) in [.null, 1, 2, 3].enumerated() as EnumeratedSequence<[Value]> {
            for complete in [.null, true, false] as [Value] {
                let row = World.row("\(priority)-\(complete)", at: Int64(number), text: "a")
                let due: Value = number == 0 ? .null : .timestamp(World.instant(Int64(number) - 1))
                rows.append(row.merging(["complete": complete, "priority": priority, "due": due]))
            }
        }
        try world.plant(rows)
        let whole = try await world.makeClient()
        try await whole.items.pull()
        for filter in Self.filters {
            let client = try await world.makeClient()
            let query = TableQuery("TodoItem").filter(filter)
            try await client.items.pull(query, queryID: queryID)
            let expected = try await whole.items.rows(matching: query).rows.map(\.idText).sorted()
            #expect(try client.store.versions().keys.sorted() == expected, "\(filter)")
            #expect(!expected.isEmpty && expected.count < rows.count)
        }
    }
}
