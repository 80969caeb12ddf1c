import Foundation
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rule P11: an update in Datasync 3 sends columns that were not edited back as the server's own text.
@Suite("Untouched columns", .timeLimit(.minutes(15)), .releasesClients, .onlyDatasync)
struct UntouchedColumnTests {
    /// A value as the table service writes it, and as another server does.
    struct Text: Sendable, CustomTestStringConvertible {
        var column: String
        var value: Value
        var written: String
        var other: String

        init(_ column: String, _ value: Value, _ written: String, _ other: String) {
            (self.column, self.value, self.written, self.other) = (column, value, written, other)
        }

        var testDescription: String { "\(column) \(other)" }
    }

    private static let due = Value.timestamp(Timestamp("2026-11-21T09:12:49.400Z")!)
    private static let day = Value.timestamp(Timestamp("2026-11-21T00:00:00Z")!)

    static let texts = [
        Text("effort", 0.1, "0.1", "0.10"), Text("effort", 5.0, "5.0", "5"), Text("effort", 12.5, "12.5", "12.500"),
        Text("effort", 0.1234567890123456789, "\(0.1234567890123456789)", "0.1234567890123456789012345678"),
        Text("effort", 1e22, "1e+22", "10000000000000000000000"), Text("priority", 7, "7", "7.0"),
        Text("due", due, "\"2026-11-21T09:12:49.400Z\"", "\"2026-11-21T11:12:49.4+02:00\""),
        Text("due", due, "\"2026-11-21T09:12:49.400Z\"", "\"2026-11-21T09:12:49.4Z\""),
        Text("due", day, "\"2026-11-21T00:00:00.000Z\"", "\"2026-11-21\""),
        Text("complete", .null, "null", "null"),
    ]

    private func rewrite(_ client: Client, _ text: Text) {
        client.transport.inspect { _, _ in
            .change {
                // The table service omits nulls.
                guard text.value != .null else { return $0.replacing("\"text\":", with: "\"complete\":null,\"text\":") }
                return $0.replacing("\"\(text.column)\":\(text.written)", with: "\"\(text.column)\":\(text.other)")
            }
        }
    }

    @Test(
        "P11 an update sends the text of a column that was not edited back as it was pulled or answered",
        arguments: [StoreKind.simplest], texts)
    func keepsText(_ stores: StoreKind, _ text: Text) async throws {
        let world = try World(stores)
        let row = World.row("a", at: 0, text: "one").merging(Row(id: "a").merging([text.column: text.value]))
        try world.plant([row])
        let first = try await world.makeClient()
        rewrite(first, text)
        try await first.items.pull()
        // The text is kept in the store.
        let client = try await world.makeClient(store: first.store)
        rewrite(client, text)
        for edit in ["two", "three"] {
            try await client.pushUpdate(["id": "a", "text": .string(edit)])
            let body = try #require(client.transport.sent.last { $0.request.isUpdate }?.body)
            #expect(body.contains("\"\(text.column)\":\(text.other)"), "\(body)")
            #expect(body.components(separatedBy: "\"\(text.column)\"").count == 2, "\(body)")
        }
        #expect(try client.row("a")?[text.column] == text.value)
        // An edited column is sent as edited.
        let edited: Value = [.bool(true), .int(8), .double(2.5), .timestamp(World.instant(0))].first {
            $0.type == World.schema.column(text.column)?.type
        }!
        try await client.pushUpdate(Row(id: "a").merging([text.column: edited]))
        #expect(try world.serverRow("a")?[text.column] == edited)
    }

    @Test("P11 a null that an edit set is sent", arguments: StoreKind.perEngine)
    func sendsNull(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.pushUpdate(["id": "a", "priority": .null])
        #expect(client.transport.sent.last?.body.contains(#""priority":null"#) == true)
        #expect(try world.serverRow("a")?["priority"] == .null)
    }
}
