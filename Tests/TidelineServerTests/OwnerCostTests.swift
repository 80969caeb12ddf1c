import Foundation
import Synchronization
import Testing
import TidelineServer
import TidelineStore
import TidelineTestStores

/// The cost of requests beside many rows of another user. `TIDELINE_FOREIGN_ROWS` is their number, and prints times.
@Suite(.timeLimit(.minutes(10)))
struct OwnerCostTests {
    private static let rowCount = ProcessInfo.processInfo.environment["TIDELINE_FOREIGN_ROWS"].flatMap { Int($0) }

    private static let schema = TableSchema(
        "Note", columns: [.string("text"), .int("count"), .string("userId")],
        indexes: [["text"], ["count", "text"], ["updatedAt"], ["text", "userId"]])

    @Test(arguments: StoreKind.served)
    func `all indexes of a table with owners begin with the owner, also earlier ones`(_ stores: StoreKind) throws {
        let store = try stores.makeStore()
        _ = try TableService(store: store, options: TableServiceOptions(schemas: [Self.schema]))
        let plain = try #require(try store.tables().first { $0.name == "Note" })
        #expect(plain.indexes == Self.schema.indexes)
        let options = TableServiceOptions(schemas: [Self.schema], rights: ["Note": .owned(by: "userId")])
        for _ in 0..<2 {
            _ = try TableService(store: store, options: options)
            let owned = try #require(try store.tables().first { $0.name == "Note" })
            #expect(owned.indexes == [["userId", "text"], ["userId", "count", "text"], ["userId", "updatedAt"]])
        }
        // A service that finds a row with further columns defines the table again.
        let service = try TableService(store: store, options: options)
        #expect(service.send(.post, "/tables/Note", #"{"more":1}"#, caller: .user("a")).status == .created)
        let grown = try #require(try store.tables().first { $0.name == "Note" })
        #expect(grown.indexes.allSatisfy { $0.columns.first == "userId" } && grown.column("more") != nil)
    }

    private static let queries = [
        "", "$filter=text eq 'common'", "$filter=text eq 'none'", "$filter=text eq 'common' and count eq 7",
        "$filter=count gt 5 and startswith(text,'comm')", "$filter=text eq 'common' or count eq 1",
        "$orderby=text", "$orderby=updatedAt desc", "$orderby=count,text desc", "$orderby=id desc&$top=5",
        "$filter=id gt 'm'", "$filter=id eq 'b7'", "$filter=not (text eq 'x')&$skip=1",
        "$filter=updatedAt gt datetimeoffset'2020-01-01T00:00:00Z'&$orderby=updatedAt",
        "$inlinecount=allpages&$top=0", "$inlinecount=allpages&$filter=text eq 'common'",
    ]

    /// Returns the pages of all queries, with the number of rows read and the time of each.
    private func pages(
        of service: TableService<CountingStore>, _ store: CountingStore
    ) -> [(text: String, rows: Int, time: Duration)] {
        Self.queries.map { query in
            let path = "/tables/Note?\(query.replacing(" ", with: "%20"))"
            let rows = store.rows.load(ordering: .relaxed)
            let times = (0..<5).map { _ in
                let start = ContinuousClock.now
                let page = service.send(.get, path, caller: .user("alice"))
                return (page, ContinuousClock.now - start)
            }
            #expect(times[0].0.status == .ok, "\(times[0].0.text)")
            return (times[0].0.text, store.rows.load(ordering: .relaxed) - rows, times.map(\.1).sorted()[2])
        }
    }

    @Test(arguments: StoreKind.served)
    func `no request of a user reads the rows of another one`(_ stores: StoreKind) throws {
        let store = CountingStore(try stores.makeStore())
        let options = TableServiceOptions(schemas: [Self.schema], rights: ["Note": .owned(by: "userId")])
        let service = try TableService(store: store, options: options)
        for number in 0..<3 {
            let row = #"{"id":"a\#(number)","text":"mine","count":\#(number)}"#
            #expect(service.send(.post, "/tables/Note", row, caller: .user("alice")).status == .created)
        }
        let before = pages(of: service, store)
        let count = Self.rowCount ?? 2_000
        try store.write { writer in
            let stamp = Timestamp.now
            try writer.upsert(
                (0..<count).map { number in
                    [
                        "id": .string("b\(number)"), "text": "common", "count": 7, "userId": "bob",
                        "updatedAt": .timestamp(stamp), "createdAt": .timestamp(stamp), "version": "v",
                        "deleted": false,
                    ] as Row
                }, into: "Note")
        }
        let after = pages(of: service, store)
        #expect(after.map(\.text) == before.map(\.text))
        #expect(after.map(\.rows) == before.map(\.rows))
        guard Self.rowCount != nil else { return }
        for (query, (before, after)) in zip(Self.queries, zip(before, after)) {
            print("\(stores.testDescription): \(before.time) -> \(after.time) \(query)")
        }
    }
}
