import Foundation
import HTTPTypes
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import Tideline

/// Rules P10 and P11: answers with only some columns, names that differ in case, and values stored differently.
@Suite("Partial answers", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct PartialAnswerTests {
    private static let row: Row = [
        "text": "two", "complete": true, "priority": 7, "effort": 1.5, "due": .timestamp(World.instant(10_000)),
        "photo": .bytes([1, 2]), "tags": .json("[1]"),
    ]

    /// Changes the names of the members of a row in an answer; `nil` removes a member.
    private static func rename(
        _ answer: TransportResponse, _ name: @escaping (String) -> String?
    ) -> TransportResponse {
        guard let row = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any] else {
            return answer
        }
        var renamed: [String: Any] = [:]
        for (key, value) in row { if let key = name(key) { renamed[key] = value } }
        var answer = answer
        answer.body = Array((try? JSONSerialization.data(withJSONObject: renamed)) ?? Data())
        return answer
    }

    private static let systemNames: Set<String> = ["id", "version", "createdAt", "updatedAt", "deleted"]

    /// Leaves only the system columns and the given columns in the answers to requests that change rows.
    private func shorten(_ client: Client, to names: Set<String> = [], status: Int? = nil) {
        client.transport.inspect { request, _ in
            guard request.method != .get else { return nil }
            return .change { answer in
                if let status, answer.response.status.code != status { return answer }
                return Self.rename(answer) { Self.systemNames.contains($0) || names.contains($0) ? $0 : nil }
            }
        }
    }

    @Test(
        "P10 columns that an answer omits keep the values that were sent or are stored", arguments: StoreKind.perEngine,
        allPairs([OperationKind.insert, .update], [[], ["text"]] as [Set<String>]))
    func omitted(_ stores: StoreKind, _ test: (kind: OperationKind, names: Set<String>)) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.pushUpdate(Row(id: "a").merging(Self.row).merging(["text": "one"]))
        shorten(client, to: test.names)
        let columns: Row = test.kind == .insert ? Self.row : ["text": "two", "effort": .null]
        let id = try await client.items.edit(test.kind, columns)
        try await client.context.push()
        #expect(try await client.queue().isEmpty)
        let local = try #require(try client.row(id))
        for (name, value) in Self.row.values {
            #expect(local[name] ?? .null == (name == "effort" && id == "a" ? .null : value), "\(name)")
        }
        #expect(local.version == (try world.serverRow(id)?.version))
        // The next update changes its column only.
        try await client.pushUpdate(["id": .string(id), "complete": false])
        let server = try #require(try world.serverRow(id))
        #expect(server["complete"] == false && server["priority"] == 7 && server["tags"] == .json("[1]"))
    }

    @Test(
        "P10 the version of the next change is that of the server, also if a proxy removes it or changes the ETag",
        arguments: StoreKind.perEngine, [true, false])
    func changedVersion(_ stores: StoreKind, removes: Bool) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        client.transport.inspect { request, _ in
            guard request.method != .get else { return nil }
            return .change { answer in
                var answer = answer
                let tag = answer.response.headerFields[.eTag] ?? ""
                answer.response.headerFields[.eTag] = removes ? nil : String(tag.dropLast()) + "-gzip\""
                return removes ? Self.rename(answer) { $0 == "version" ? nil : $0 } : answer
            }
        }
        for text in ["two", "three"] { try await client.pushUpdate(["id": "a", "text": .string(text)]) }
        #expect(try world.serverTexts() == ["three"])
        let version = try world.serverRow("a")?.version
        #expect(try client.row("a")?.version == version)
    }

    @Test("P10 a null that others set and an answer omits stays null", arguments: StoreKind.perEngine, [true, false])
    func nullOfOthers(_ stores: StoreKind, resolves: Bool) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.update(["id": "a", "text": "two"])
        if resolves {
            // A delegate sends the row on the version of the conflict.
            client.context.delegate = ScriptedDelegate.rebasing
        } else {
            await client.pushLosing()
        }
        try await world.updateElsewhere(["id": "a", "priority": .null])
        if !resolves { try await client.items.update(["id": "a", "complete": true]) }
        client.transport.inspect { request, _ in
            guard request.isUpdate else { return nil }
            return .change { answer in
                // A server that omits nulls.
                answer.response.status == .ok ? answer.replacing("\"priority\":null,", with: "") : answer
            }
        }
        try await client.context.push()
        #expect(try world.serverRow("a")?["priority"] == .null)
        #expect(try client.row("a")?["priority"] == .null)
        #expect(try client.row("a")?["text"] == "two")
    }

    @Test("P10 a value that an answer contains replaces the value that was sent", arguments: StoreKind.perEngine)
    func changedByServer(_ stores: StoreKind) async throws {
        try await Script("P10", #"update a=two; on change replace "two" "TWO"; push; row a text=TWO"#).play(stores)
    }

    @Test("P10 columns that a conflict omits were not cleared by others", arguments: StoreKind.perEngine, [409, 412])
    func conflict(_ stores: StoreKind, status: Int) async throws {
        let (world, client) = try await World.withSyncedClient(stores) { $0.conflictPolicy = .merge() }
        let isInsert = status == 409
        let id = isInsert ? "b" : "a"
        let other = try await world.makeOther()
        if isInsert {
            try await other.items.insert(["id": "b", "text": "theirs", "priority": 1])
            try await client.items.insert(["id": "b", "text": "mine", "priority": 1, "effort": 2.0])
        } else {
            try await other.items.update(["id": "a", "complete": true])
            try await client.items.update(["id": "a", "effort": 2.0])
        }
        try await other.context.push()
        shorten(client, to: ["complete"], status: status)
        try await client.context.push()
        for row in [try world.serverRow(id), try client.row(id)] {
            #expect(row?["priority"] == 1 && row?["effort"] == 2.0)
            #expect(row?["text"] == (isInsert ? "theirs" : "one"))
        }
    }

    @Test(
        "P10 a column that the row of a conflict omits may have a value that others have set",
        arguments: StoreKind.perEngine,
        [true, false])
    func omittedNull(_ stores: StoreKind, isDelete: Bool) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await world.makeOther().pushUpdate(["id": "a", "effort": 3.0])
        try await client.items.edit(isDelete ? .delete : .update, ["effort": 4.0])
        let names = Set(World.schema.columns.map(\.name)).subtracting(["effort"])
        shorten(client, to: names, status: 412)
        let error = await #expect(throws: SyncError.self) { try await client.context.push() }
        #expect(error?.operationErrors.map(\.code) == [.conflict])
        #expect(error?.operationErrors.first?.serverItem?["effort"] == 3.0)
        #expect(try world.serverRow("a")?["deleted"] == false && world.serverRow("a")?["effort"] == 3.0)
    }

    @Test(
        "P10 names that differ from those of the table only in case are an error with both",
        arguments: StoreKind.perEngine, [true, false])
    func misspelled(_ stores: StoreKind, isPull: Bool) async throws {
        let client = try await World(stores).makeSyncedClient()
        client.transport.inspect { _, _ in
            .change { answer in
                World.schema.columns.reduce(answer) { answer, column in
                    let name = column.name.prefix(1).uppercased() + column.name.dropFirst()
                    return answer.replacing("\"\(column.name)\":", with: "\"\(name)\":")
                }
            }
        }
        var message = ""
        if isPull {
            let error = await expectSyncError(.invalidAnswer) { try await client.items.pull() }
            message = "\(error?.message ?? "")"
        } else {
            try await client.items.update(["id": "a", "text": "two"])
            let error = try #require(try await pushErrors(client).first)
            #expect(error.code == .invalidAnswer)
            message = error.message
        }
        #expect(message.contains("\"text\"") && message.contains("\"Text\""), "\(message)")
        #expect(try client.row("a")?["text"] == (isPull ? "one" : "two"))
    }

    // MARK: P11, warnings of values that the server stored differently

    @Test(
        "P11 a value that the server stores differently is a warning", arguments: [StoreKind.simplest],
        [
            ("due", .timestamp(World.instant(1_234)), .timestamp(World.instant(0))), ("effort", 0.125, 0.13),
            ("text", "padded ", "padded"), ("priority", .null, 3),
        ] as [(String, Value, Value)])
    func warns(_ stores: StoreKind, _ test: (column: String, sent: Value, stored: Value)) async throws {
        let client = try await World(stores).makeSyncedClient()
        client.transport.inspect { request, _ in
            guard request.isUpdate else { return nil }
            return .change { answer in
                var answer = answer
                guard var row = try? RowCodec(schema: World.schema).row(body: answer.body) else { return answer }
                row[test.column] = test.stored
                answer.body = Array(row.json.utf8)
                return answer
            }
        }
        try await client.items.update(Row(id: "a").merging([test.column: test.sent]))
        let warnings = try await client.context.push().warnings
        #expect(warnings.map(\.column) == [test.column])
        #expect(warnings.first?.sent == test.sent && warnings.first?.stored == test.stored)
        #expect(try client.row("a")?[test.column] == test.stored)
    }

    @Test("P11 equal values are no warning, whatever their text", arguments: StoreKind.perEngine)
    func silent(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeSyncedClient()
        client.transport.inspect { request, _ in
            request.isUpdate ? .change { $0.replacing(#"{"a":1,"b":[]}"#, with: #"{"b": [], "a": 1.0}"#) } : nil
        }
        try await client.items.update([
            "id": "a", "effort": 0.1, "due": .timestamp(World.instant(1_234)), "tags": .json(#"{"a":1,"b":[]}"#),
            "priority": .null,
        ])
        #expect(try await client.context.push().warnings.isEmpty)
    }
}

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
