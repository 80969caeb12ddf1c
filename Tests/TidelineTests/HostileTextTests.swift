import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Text that could break quoting, encoding or limits, sent from one client to another.
@Suite("Hostile text", .releasesClients)
struct HostileTextTests {
    static let texts: [String] = [
        "", " ", "it's", "\"quoted\" \\ / \u{8}\u{c}\n\r\t", "'; DROP TABLE TodoItem; --", "%27%00%2F?&#$+", "null",
        "\u{0}", "before\u{0}after", "\u{1}\u{1f}\u{7f}\u{9f}", "\u{feff}\u{200b}\u{202e}", "😀👨‍👩‍👧‍👦🏳️‍🌈", "e\u{301} é",
        "\u{fffd}\u{ffff}\u{10ffff}", "2026-11-21T09:12:49.403Z", "1e999", "{\"a\":[1]}", "]}", "SELECT \"x\"",
        "ﷺ", "İıſK", "a\u{300}\u{301}\u{302}",
    ]

    private func expectTravels(_ stores: StoreKind, _ text: String) async throws {
        let world = try World(stores) { $0.maximumBodySize = 8 << 20 }
        let sender = try await world.makeClient()
        let receiver = try await world.makeClient()
        try await sender.pushInsert(["id": "a", "text": .string(text)])
        for queryID in ["q", nil] {
            try await receiver.items.pull(queryID: queryID)
            let arrived = try receiver.row("a")?["text"]?.string
            #expect(arrived.map { Array($0.utf8) } == Array(text.utf8))
        }
        #expect(try sender.row("a") == receiver.row("a"))
        // The text as a filter finds only that row.
        let query = TableQuery("TodoItem").filter(.column("text") == .value(text))
        #expect(try await receiver.items.rows(matching: query).rows.map(\.idText) == ["a"])
        guard text.utf8.count < 1000 else { return }
        let third = try await world.makeClient()
        try await sender.pushInsert(["id": "other", "text": .string(text + "x")])
        try await third.items.pull(query, queryID: "q'\(text)'")
        #expect(try third.store.versions().keys.sorted() == ["a"])
        try await third.items.pull(query, queryID: "q'\(text)'")
    }

    @Test(
        "any text arrives unchanged through insert, push and another client's pull, and a filter finds it",
        arguments: StoreKind.perEngine, texts)
    func travels(_ stores: StoreKind, text: String) async throws { try await expectTravels(stores, text) }

    @Test("1 MB of text arrives unchanged", arguments: StoreKind.perEngine)
    func large(_ stores: StoreKind) async throws {
        try await expectTravels(stores, String(repeating: "0123456789\u{0}\"é😀", count: 1 << 16))
    }

    @Test(
        "L3 valid IDs of any characters, up to 255 of them, arrive unchanged",
        arguments: StoreKind.perEngine,
        [
            "it's", "'; DROP TABLE TodoItem; --", "a b", "a%2Fb", "%", "%2F", "%00", "$filter", "Zoë", "é", "😀", "🐟",
            "(1)", "...", "a&b=c", "a#b", "a&b=c#d;e,f", "~!@$^*()[]{}|<>:", "null", "MS_TableOperations",
            String(repeating: "x", count: 255), String(repeating: "é", count: 255), String(repeating: "😀", count: 255),
        ])
    func ids(_ stores: StoreKind, id: String) async throws {
        let world = try World(stores)
        let sender = try await world.makeClient()
        let receiver = try await world.makeClient()
        try await sender.items.insert(["id": .string(id), "text": "one"])
        try await sender.pushInsert(["id": "zzz", "text": "last"])
        try await sender.pushUpdate(["id": .string(id), "text": "two"])
        // Pages of one row request the rows after this identifier.
        try await receiver.items.pull(settings: PullSettings(pageSize: 1))
        #expect(try receiver.row(id)?["text"] == "two")
        #expect(try receiver.texts() == ["last", "two"])
        try await receiver.pushDelete(id)
        #expect(try world.serverRow(id)?["deleted"] == true)
        try await sender.items.pull(queryID: "q")
        #expect(try sender.texts() == ["last"])
    }
}
