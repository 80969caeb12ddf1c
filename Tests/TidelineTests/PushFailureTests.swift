import HTTPTypes
import Synchronization
import Testing
import TidelineStore
import TidelineTestStores

@testable import Tideline

/// Rules P3, P4 and P8: the failures that end a push, the others, and the operations that stay.
@Suite("Push failures", .timeLimit(.minutes(15)), .releasesClients, .bothDialects)
struct PushFailureTests {
    private func withThreeRows(_ stores: StoreKind) async throws -> (World, Client) {
        let (world, client) = try await World.withClient(stores)
        for id in ["a", "b", "c"] { try await client.items.insert(["id": .string(id), "text": .string(id)]) }
        return (world, client)
    }

    private static let threeRows = "empty; insert a=a; insert b=b; insert c=c"

    static let transportFailures: [Script] = [
        ("connection", "network"), ("timeout", "network"), ("tls", "network"), ("cancelled", "cancelled"),
    ].map {
        Script(
            "P3 a failure \($0) of the transport ends the push with the code \($1)", threeRows,
            #"on "b" fail \#($0); push singly fails \#($1)"#,
            "local [a=a, b=b, c=c] queue [insert b, insert c] server [a=a]")
    }

    static let aborts: [Script] = [
        (401, "authentication"), (408, "network"), (429, "network"), (503, "network"),
    ].map {
        Script(
            "P3 a failure \($0) ends the push with the code \($1), and all operations stay", threeRows,
            #"on "b" answer \#($0) {"error":"wait"}; push singly fails \#($1); error status=\#($0) says=wait; failed []"#,
            "errors []; local [a=a, b=b, c=c] queue [insert b, insert c] server [a=a]",
            "push; local [a=a, b=b, c=c] queue [] server [a=a, b=b, c=c]")
    }

    static let collected: [Script] = [400, 403, 413, 422, 500, 501, 302, 304].map {
        Script(
            "P3 a failure \($0) is collected, and the push continues with the other rows", threeRows,
            #"on "b" answer \#($0) {"error":"no"}; push errors \#($0 == 500 ? "serverFailed" : "rejected"); failed [b]"#,
            "error table=TodoItem kind=insert status=\($0) message=no item.text=b",
            "local [a=a, b=b, c=c] queue [insert b] server [a=a, c=c]")
    }

    static let unreadable: [Script] = ["", "null", "[]", "<html>", #"{"id":"a"}"#].map {
        Script(
            "P3 a conflict whose answer '\($0)' has no readable row is still a conflict, and the row is requested once",
            "other update a=theirs; update a=mine; on update answer 412 \($0); push errors conflict",
            "error status=412 server.text=theirs; requests 2")
    }

    static let scripts: [Script] =
        [
            Script(
                "P3 a push canceled during a pause ends as canceled and keeps the operation",
                "empty; insert a=a; answer 503; push fails cancelled; queue [insert a]"
            ).with { $0.environment.sleep = { _ in throw CancellationError() } },
            Script(
                "P3 a second operation on a failed row waits for the next push",
                "update a=two; meanwhile update a=three; answer 400; push errors rejected; requests 1",
                "local [a=three] queue [update a] server [a=one]"),
            Script(
                "P3 an aborted push reports the errors of the operations that failed before", threeRows,
                #"on "a" answer 400; on "c" lose request; push singly fails network; failed [a]"#,
                "local [a=a, b=b, c=c] queue [insert a, insert c] server [b=b]"),
            Script(
                "P3 three consecutive operations that fail on the server abort the push; the fourth is not sent",
                threeRows, "insert d=d; answer 500; push singly fails serverFailing; failed [a, b, c]; requests 12",
                "attempts [1 1 1 0]; push; errors []; server [a=a, b=b, c=c, d=d]"),
            Script(
                "P4 without a handler every conflict is an error and the operation stays, in every push",
                "other update a=theirs; update a=mine",
                Array(
                    repeating:
                        "push errors conflict; errors [a conflict]; local [a=mine] queue [update a] server [a=theirs]",
                    count: 3
                ).joined(separator: "; ")),
        ]
        + [404, 410].map {
            Script(
                "P3 a delete of a row that the server no longer has succeeds, answer \($0)",
                "delete a; erase a; on delete answer \($0); push; local [] queue [] server []")
        }

    @Test(
        "P3, P4 failures that end a push have their own codes, and others are collected; all operations stay",
        arguments: StoreKind.perEngine, aborts + transportFailures + collected + unreadable + scripts)
    func plays(_ stores: StoreKind, _ script: Script) async throws { try await script.play(stores) }

    @Test("P3 too large an answer fails its operation alone until the next push", arguments: StoreKind.perEngine)
    func tooLarge(_ stores: StoreKind) async throws {
        let (world, client) = try await withThreeRows(stores)
        client.transport.inspect { _, body in
            body.contains(#""b""#) ? .delay { throw TransportError(.tooLarge, "over 100 MB") } : nil
        }
        #expect(try await pushErrors(client).map(\.code) == [.invalidAnswer])
        #expect(try world.state(client) == "local [a=a, b=b, c=c] queue [insert b] server [a=a, b=b, c=c]")
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=a, b=b, c=c] queue [] server [a=a, b=b, c=c]")
    }

    @Test(
        "P3 transient failures are retried with increasing pauses and Retry-After, and then succeed",
        arguments: StoreKind.perEngine, [408, 429, 500, 502, 503, 504])
    func retries(_ stores: StoreKind, status: Int) async throws {
        let pauses = Mutex<[Duration]>([])
        let (world, client) = try await World.withClient(stores) {
            $0.environment.sleep = { pause in pauses.withLock { $0.append(pause) } }
            $0.environment.random = { 1 }
        }
        try await client.items.insert(["id": "a", "text": "a"])
        client.transport.inspect { _, _ in
            let number = client.transport.requests.count
            return number > 3 ? nil : .answer(.answer(status, headers: number == 2 ? [.retryAfter: "7"] : [:]))
        }
        try await client.context.push()
        let renewal = client.context.database.makePushLease()?.renewalInterval
        let retries = pauses.withLock { $0 }.filter { $0 != renewal }
        #expect(retries == [.milliseconds(500), .seconds(7), .seconds(2)])
        #expect(try world.state(client) == "local [a=a] queue [] server [a=a]")
        #expect(client.transport.requests.count == 4)
    }

    @Test("P3 a 401 refreshes the sign-in once, also after other attempts", arguments: StoreKind.perEngine)
    func refreshes(_ stores: StoreKind) async throws {
        let client = try await World(stores).makeClient {
            $0.authorization = { refresh in
                HTTPField(name: .authorization, value: refresh ? "new" : "old")
            }
        }
        try await client.items.insert(["id": "a", "text": "a"])
        let statuses = Mutex([503, 401])
        client.transport.inspect { _, _ in
            let status = statuses.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return status.map { .answer(.answer($0)) }
        }
        try await client.context.push()
        #expect(client.transport.sent.map { $0.request.headerFields[.authorization] } == ["old", "old", "new"])
        client.transport.inspect { _, _ in .answer(.answer(401)) }
        client.transport.clear()
        try await client.items.update(["id": "a", "text": "b"])
        #expect(await syncErrorCode { try await client.context.push() } == .authentication)
        #expect(client.transport.requests.count == 2)
    }

    @Test("P3 a restore rejected in its second request is a rejection, not a conflict", arguments: StoreKind.perEngine)
    func rejectedRestore(_ stores: StoreKind) async throws {
        let (world, client) = try await World.withSyncedClient(stores)
        try await client.items.delete(id: "a")
        await client.pushLosing()
        client.transport.clear()
        try await client.items.insert(["id": "a", "text": "back"])
        client.transport.inspect { request, _ in
            request.isUpdate && client.transport.sent.count { $0.request.isUpdate } == 2
                ? .answer(.answer(400, #"{"error":"no"}"#)) : nil
        }
        let error = try #require(try await pushErrors(client).first)
        #expect(error.code == .rejected && error.message == "no")
        client.transport.inspect(nil)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=back] queue [] server [a=back]")
    }

    // MARK: P8

    @Test(
        "P1, P8 a push canceled midway ends as canceled and stores the answer in flight; the next push completes",
        arguments: StoreKind.perEngine, 1...3)
    func taskCancelled(_ stores: StoreKind, at number: Int) async throws {
        let (world, client) = try await withThreeRows(stores)
        let code = await client.codeOfTask(canceledAt: number) {
            try await client.context.push(settings: PushSettings(maxInFlight: 1))
        }
        #expect(code == .cancelled)
        #expect(client.transport.requests.count == number)
        #expect(try await client.queue().count == 3 - number)
        try await client.context.push()
        #expect(try world.state(client) == "local [a=a, b=b, c=c] queue [] server [a=a, b=b, c=c]")
        #expect(client.transport.requests.count == 3)
    }
}
