import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// The stored bodies of requests: only those with an unknown outcome, and only as much as recognition needs.
@Suite("Sent bodies", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct SentBodiesTests {
    private func sent(_ client: Client) async throws -> [String] {
        try await client.context.pendingOperations().flatMap(\.sent)
    }

    @Test("P6 the number of kept bodies is bounded, and the newest is still recognized", arguments: StoreKind.perEngine)
    func bounded(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        for number in 1...20 {
            try await client.items.update(["id": "a", "text": .string("edit \(number)")])
            await client.pushLosing(number == 20 ? .loseAnswer : .loseRequest)
        }
        #expect(try await sent(client).count == TableOperation.maximumSent)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=edit 20] queue [] server [a=edit 20]")
    }

    @Test(
        "P6 a body is kept if it alone names a column, so that a value it may have written is cleared",
        arguments: StoreKind.perEngine)
    func keepsColumns(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withClient(stores)
        try await client.items.insert(["id": "b", "text": "b", "priority": 7])
        await client.pushLosing(.loseAnswer)
        try await client.items.update(["id": "b", "priority": .null])
        for number in 1...12 {
            try await client.items.update(["id": "b", "effort": .double(Double(number))])
            await client.pushLosing(.loseRequest)
        }
        try await client.pushUpdate(["id": "b", "effort": .null])
        let server = try #require(try world.serverRow("b"))
        #expect(server["priority"]?.isNull ?? true)
        #expect(server["effort"]?.isNull ?? true)
    }

    static let refusals: [Script] = [400, 403, 422].map {
        Script(
            "P1 a body refused with \($0) is removed: the next one names only the differences",
            "update a=bad; answer \($0); push errors rejected; error status=\($0); unsure 0",
            #"update a=one priority=2; clear; push; sent [PATCH a {"priority":2}]"#)
    }

    @Test("P1 a refused body is removed", .zumoOnly, arguments: StoreKind.perEngine, refusals)
    func refused(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    static let scripts: [Script] =
        [
            // The server executes the request and answers 503; the next attempt is refused.
            Script(
                "P6 a body that was refused after an attempt with an unknown outcome is kept, in one push",
                "update a=two; once carry out 503; answer 403; push errors rejected; error status=403; unsure 1",
                "push; local [a=two] queue [] server [a=two]"),
            Script(
                "P6 a body that was refused after an attempt with an unknown outcome is kept, in two pushes",
                "update a=two; lose answer; push fails network",
                "answer 403; push errors rejected; error status=403; unsure 1",
                "push; local [a=two] queue [] server [a=two]"),
            Script(
                "P6 an insert that met a row of others was not carried out, so that its delete leaves that row alone",
                "other insert b=theirs; insert b=mine; push errors conflict; unsure 0; delete b; queue []",
                "pull; local [a=one, b=theirs] queue [] server [a=one, b=theirs]"),
        ]
        + [400, 403, 422].map {
            Script(
                "P6 a lone refusal with \($0) tells that an insert was not carried out",
                "insert b=new; answer \($0); push errors rejected; unsure 0; delete b; queue []",
                "push; local [a=one] queue [] server [a=one]")
        }
        + [302, 501].map {
            Script(
                "P6 an answer \($0), which may be a proxy's, does not tell that an insert was not carried out",
                "insert b=new; carry out \($0); push errors rejected; unsure 1; delete b; queue [delete b]",
                "push; local [a=one] queue [] server [a=one, b deleted]")
        }

    @Test("P6 a body is kept while it may have been applied", arguments: StoreKind.perEngine, scripts)
    func kept(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test(
        "P6 JSON is compared by content, and true is not 1",
        arguments: [
            ("[true]", "[1]", false), ("[false]", "[0]", false), (#"{"a":true}"#, #"{"a":1}"#, false),
            ("[1]", "[1.0]", true), ("[1]", "[\"1\"]", false), ("[null]", "[]", false), ("[null]", "[null ]", true),
            (#"{"a":1,"b":[2]}"#, #"{ "b":[2], "a":1 }"#, true), ("[1,2]", "[2,1]", false),
            ("[9007199254740993]", "[9007199254740992]", false), ("[true]", "[ true ]", true),
        ])
    func json(server: String, sent: String, isSame: Bool) {
        let codec = RowCodec(schema: World.schema)
        #expect(codec.shows(["tags": .json(server)], ["tags": .json(sent)]) == isSame)
    }
}
