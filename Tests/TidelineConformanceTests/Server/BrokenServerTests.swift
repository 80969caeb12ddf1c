import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineConformance
import TidelineStore
import TidelineTestStores
import TidelineWire

@testable import TidelineServerConformance

// One after the other: each case has concurrent clients of its own.
@Suite("The conformance suite finds what is wrong with a server", .serialized)
struct BrokenServerTests {
    @Test(arguments: ServerFlaw.all, ServerDialect.all)
    func `a flaw is found by the check of its promise`(_ flaw: ServerFlaw, _ dialect: ServerDialect) async throws {
        guard flaw.dialect.map({ $0 == dialect }) ?? true else { return }
        let suite = try ServerFixture(.simplest, dialect).suite { BrokenServer(base: $0, flaw: flaw) }
        let checks = ServerCheck.all.filter { check in
            flaw.ids.contains(check.id)
                && check.needs.allSatisfy { need in
                    if case .dialect(let name) = need { name.rawValue == dialect.description } else { true }
                }
        }
        let found = try await deviations(of: suite, checks)
        for check in checks {
            #expect(found[check.id] != nil || found["~\(check.id)"] != nil, "\(check) passes")
        }
    }

    @Test func `each check is failed by a server with a quirk or with a flaw of its own`() {
        let quirks: Set = ["SRV-302", "SRV-308", "SRV-316", "SRV-603", "SRV-704", "SRV-805", "SRV-811", "SRV-508"]
        // Found by the servers below.
        let others: Set = ["SRV-504", "SRV-608", "SRV-609"]
        let missing = Set(ServerCheck.all.map(\.id)).subtracting(ServerFlaw.all.flatMap(\.ids))
        #expect(missing.subtracting(quirks).subtracting(others) == [])
    }

    @Test(arguments: [200, 404, 500], ServerDialect.all)
    func `no check passes on a server that gives every request the same answer`(
        _ status: Int, _ dialect: ServerDialect
    ) async throws {
        let isBroken = Mutex(false)
        let suite = try ServerFixture(.simplest, dialect).suite(answering: { _, answer in
            guard isBroken.withLock({ $0 }) else { return }
            answer = TransportResponse(response: .init(status: .init(code: status)), body: Array("{}".utf8))
        })
        try await suite.prepare()
        isBroken.withLock { $0 = true }
        for check in ServerCheck.all {
            let result = await suite.run(check)
            let isPassed = result.status == .passed
            #expect(!isPassed, "\(check) passes")
        }
    }

    /// Flaws of a server in the style of the Datasync toolkit, and all checks that deviate.
    private static let toolkitFlaws: [ServerFlaw] = [
        .output("none") { _, _ in },
        .output("cuts pages without a link", "~SRV-212") { $1.removeLink() },
        .output(
            "cuts pages without a link, and counts the rows of the page",
            "SRV-202", "~SRV-208", "~SRV-212", "SRV-214", "SRV-215"
        ) { request, answer in
            answer.removeLink()
            if request.isList { answer.countPage() }
        },
        .output("finds no deleted row by its id", "~SRV-508") { request, answer in
            if request.method == .get, request.isOfRow, answer.text.contains(#""deleted":true"#) { answer.set(410, "") }
        },
    ]

    @Test(arguments: toolkitFlaws)
    func `a server without createdAt, as that of the Datasync toolkit, deviates only by its flaw`(
        _ flaw: ServerFlaw
    ) async throws {
        let fixture = try ServerFixture(.simplest, .datasync3, schemas: [ServerFixture.schema])
        let suite = try fixture.suite(answering: { request, answer in
            answer.replace(#","createdAt":"[^"]*""#, with: "")
            flaw.response(request, &answer)
        })
        let found = try await deviations(of: suite)
        #expect(Set(found.keys) == Set(flaw.ids), "\(flaw): \(found)")
    }

    /// Flaws that lose rows or values, found by checks that have a tolerance for other deviations.
    private static let losses: [ServerFlaw] = [
        .path("deletes a row at OPTIONS", "SRV-107") { if $0.method == .options, $0.isOfRow { $0.method = .delete } },
        .output("answers 1,000 rows with 500", "SRV-210") { if $0.target.contains("$top=1000") { $1.set(500) } },
        .output("shows a deleted row as one that is not", "SRV-508") {
            if $0.method == .get, $0.isOfRow { $1.replace(#""deleted":true"#, with: #""deleted":false"#) }
        },
        .output("has no ne", "SRV-704") { if $0.target.contains("number%20ne%201") { $1.set(200, "[]") } },
        .output("finds no text", "SRV-712") { if $0.target.contains("text%20eq%20%27abc%27") { $1.set(200, "[]") } },
        .output("finds no percent sign", "SRV-715") { if $0.target.contains("0%25") { $1.set(200, "[]") } },
        .output("rounds integers in responses to inserts", "SRV-805") {
            if $0.method == .post { $1.replace("9007199254740993", with: "9007199254740992") }
        },
        .output("cuts arrays", "SRV-811") {
            if $0.method == .get { $1.replace(#"\[1,\s*null,\s*"b"\]"#, with: "[1]") }
        },
        .input("empties long texts", "SRV-812") { if $1.count > 1_000_000 { $1.replace("tide ", with: "") } },
    ]

    @Test(arguments: losses, ServerDialect.all)
    func `a lost row or value is a failure, also in a check with a tolerance`(
        _ flaw: ServerFlaw, _ dialect: ServerDialect
    ) async throws {
        let suite = try ServerFixture(.simplest, dialect).suite { BrokenServer(base: $0, flaw: flaw) }
        let check = try #require(ServerCheck.all.first { flaw.ids.contains($0.id) })
        let result = await suite.run(check)
        #expect(result.status == .failed, "\(flaw): \(result)")
    }

    @Test(arguments: [("SRV-107", CheckStatus.failed), ("SRV-812", CheckStatus.tolerated)])
    func `a request without a response is a failure, except for a body that is too large`(
        _ id: String, _ status: CheckStatus
    ) async throws {
        let suite = try ServerFixture(.simplest, .zumo2).suite { SilentServer(base: $0) }
        let check = try #require(ServerCheck.all.first { $0.id == id })
        #expect(await suite.run(check).status == status)
    }

    @Test func `a check with a tolerance that does not end is a failure`() async throws {
        let suite = try ServerFixture(.simplest, .zumo2).suite {
            SilentServer(base: $0, waits: true)
        } configure: {
            $0.timeLimit = .zero
        }
        let check = try #require(ServerCheck.all.first { $0.id == "SRV-107" })
        let result = await suite.run(check)
        #expect(result.status == .failed)
        #expect(result.failure?.message.contains("does not end within") == true)
    }

    @Test(arguments: ServerDialect.all)
    func `a late commit is found: a row that appears after one with a later timestamp`(_ dialect: ServerDialect)
        async throws
    {
        // Every other list hides the newest row but one.
        let count = Atomic(0)
        let suite = try ServerFixture(.simplest, dialect).suite(answering: { request, answer in
            guard request.isList, request.target.contains("desc"), var rows = answer.rows, rows.count > 2 else {
                return
            }
            if !count.add(1, ordering: .relaxed).newValue.isMultiple(of: 2) { rows.remove(at: 1) }
            answer.text = "[\(rows.joined(separator: ","))]"
        })
        let check = try #require(ServerCheck.all.first { $0.id == "SRV-609" })
        #expect(await suite.run(check).status == .tolerated)
    }

    @Test(arguments: ServerDialect.all)
    func `timestamps of servers whose clocks differ are found`(_ dialect: ServerDialect) async throws {
        let count = Atomic(0)
        let suite = try ServerFixture(.simplest, dialect).suite(answering: { request, answer in
            guard request.method == .post else { return }
            let isEven = count.add(1, ordering: .relaxed).newValue.isMultiple(of: 2)
            if isEven { answer.replace(#""updatedAt":"\d{4}"#, with: #""updatedAt":"2001"#) }
        })
        let check = try #require(ServerCheck.all.first { $0.id == "SRV-608" })
        #expect(await suite.run(check).status == .tolerated)
    }

    @Test(arguments: ServerDialect.all)
    func `a server whose deletes and undeletes keep the timestamp of the row is found`(_ dialect: ServerDialect)
        async throws
    {
        let fixture = try ServerFixture(.simplest, dialect)
        let suite = try fixture.suite { StampKeepingServer(base: $0, store: fixture.store) }
        let found = try await deviations(of: suite, ServerCheck.deletes)
        #expect(Set(found.keys) == ["SRV-504", "SRV-510"], "\(found)")
    }
}

/// A transport to a service that answers neither HEAD nor requests with large bodies.
private struct SilentServer: Transport {
    let base: ServiceTransport
    /// Whether it waits until the caller is cancelled, instead of closing the connection.
    var waits = false

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        guard request.method == .head || body?.count ?? 0 > 1_000_000 else {
            return try await base.send(request, body: body, timeout: timeout)
        }
        if waits { try await Task.sleep(for: .seconds(86_400)) }
        throw TransportError(.connection, "the connection was closed")
    }
}

/// A transport to a service whose deletes and undeletes keep `updatedAt`.
private struct StampKeepingServer: Transport {
    let base: ServiceTransport
    let store: TestStore

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        guard request.isOfRow, request.method != .get else {
            return try await base.send(request, body: body, timeout: timeout)
        }
        let table = ServerFixture.schema.name
        let before = try store.read { try $0.rows(matching: TableQuery(table)) }.rows
        let response = try await base.send(request, body: body, timeout: timeout)
        try store.write { writer in
            for old in before {
                guard let new = try writer.row(in: table, id: old.idText), new["deleted"] != old["deleted"] else {
                    continue
                }
                var row: Row = ["updatedAt": old["updatedAt"] ?? .null]
                row.id = old.id
                try writer.upsert(row, into: table)
            }
        }
        return response
    }
}
