import Foundation
import HTTPTypes
import Testing
import Tideline
import TidelineConformance
import TidelineServer
import TidelineStore
import TidelineSupport
import TidelineTestStores

@testable import TidelineServerConformance

@Suite("The conformance run for dialects")
struct DialectConformanceTests {
    static let schema = TableSchema(
        "Todo",
        columns: [
            .string("text"), .int("count"), .double("weight"), .bool("done"), .timestamp("due"), .json("tags"),
            .bytes("photo"),
        ], idMatching: .exact)

    static func kinto(_ dialect: ServerDialect, _ face: KintoFace) -> DialectConformance {
        var run = DialectConformance(url: "https://kinto.test/v1", dialect: dialect, schema: schema, transport: face)
        run.emptyServer = { face.empty() }
        run.holdNextChange = { face.holdNextChange() }
        run.hasChangeSignals = true
        return run
    }

    static func kinto() -> KintoDialect { KintoDialect(bucket: "b", pollInterval: .milliseconds(20)) }

    @Test("A table service keeps every promise, in each dialect", arguments: ServerDialect.all)
    func tableService(_ dialect: ServerDialect) async throws {
        let store = try StoreKind.simplest.makeStore()
        // A service stores JSON as text.
        var schema = TableSchema("Todo", columns: Array(Self.schema.columns.prefix(5)))
        schema.idMatching = .asciiCaseInsensitive
        let service = try TableService(
            store: store, options: TableServiceOptions(schemas: [schema], createsTablesOnFirstInsert: false))
        let run = DialectConformance(
            url: "http://server.test", dialect: dialect, schema: schema, transport: ServiceTransport(service: service))
        try await expectPassed(run, skipping: ["DIA-407", "DIA-408", "DIA-601"])
    }

    @Test("The dialect of Kinto keeps every promise, also with cut pages and writes that collide")
    func kintoDialect() async throws {
        try await expectPassed(Self.kinto(ServerDialect(Self.kinto()), KintoFace()), skipping: [])
        let face = KintoFace(collidesEvery: 3, maximumPage: 3)
        try await expectPassed(Self.kinto(ServerDialect(Self.kinto()), face), skipping: [])
    }

    private func expectPassed(
        _ run: DialectConformance, skipping skipped: Set<String>
    ) async throws {
        let report = await run.report()
        for (status, expected) in [(CheckStatus.skipped, skipped), (.failed, [])] {
            let found = Set(report.stores[0].results.filter { $0.status == status }.map(\.id))
            #expect(found == expected, "\(status): \(report.text)")
        }
    }

    @Test(
        "Three devices end with the rows of Kinto, whatever is lost, late, deleted, or cut",
        arguments: 1...40 as ClosedRange<UInt64>)
    func convergence(_ seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let face = KintoFace(collidesEvery: 4, maximumPage: 3)
        let scene = DialectScene(suite: Self.kinto(ServerDialect(Self.kinto()), face))
        var devices: [DialectDevice] = []
        for _ in 0..<3 { devices.append(try await scene.device(.clientWins)) }
        let ids = (0..<4).map { _ in scene.newID() }
        var release: @Sendable () -> Void = {}
        for step in 0..<40 {
            let (device, id) = (devices[Int.random(in: 0..<3, using: &random)], ids.randomElement(using: &random)!)
            let (isLost, isLate) = (
                UInt64.random(in: 0...(.max), using: &random), Int.random(in: 0..<6, using: &random) == 0
            )
            device.network.rule = { number, _ in (isLost >> UInt64(number % 32 * 2)) & 3 == 0 ? .loseAnswer : nil }
            switch (Int.random(in: 0..<6, using: &random), try await device.table.row(id: id) != nil) {
            case (0, true): try await device.delete(id)
            case (0...2, true): try await device.update(id, step, isOther: isLate)
            case (0...2, false): try await device.insert(id, step)
            case (3, _): _ = try? await device.pull(pageSize: Int.random(in: 1..<4, using: &random))
            default:
                release()
                if isLate { release = face.holdNextChange() }
                _ = try? await device.push()
            }
        }
        release()
        // A change that collides or conflicts is pushed in a later round.
        for _ in 1...4 { for device in devices { try await device.settle() } }
        let rows = Array(try await devices[0].contents().values)
        try await scene.expectRows(rows, on: devices[0], devices[1], devices[2])
    }

    @Test("Each broken dialect is found by its check", arguments: KintoFlaw.all)
    func broken(_ flaw: KintoFlaw) async throws {
        var run = Self.kinto(
            ServerDialect(BrokenKinto(base: Self.kinto(), flaw: flaw)), KintoFace(collidesEvery: flaw.collidesEvery))
        run.patience = .seconds(3)
        let check = try #require(DialectConformance.checks.first { $0.id == flaw.check })
        let result = await run.run(check)
        #expect(result.status == .failed, "\(flaw): \(result)")
        #expect(result.failure?.message.contains("expected: ") == true && result.failure?.script?.isEmpty == false)
    }

    @Test("The article contains the code of a run, which passes")
    func article() async throws {
        let file = URL(fileURLWithPath: #filePath)
        let root = (1...4).reduce(file) { url, _ in url.deletingLastPathComponent() }
        let article = try String(
            contentsOf: root.appendingPathComponent("Sources/Tideline/Tideline.docc/SpeakingToAnotherServer.md"),
            encoding: .utf8)
        let marker = "\n// article: conformance\n"
        let code = try String(contentsOf: file, encoding: .utf8).components(separatedBy: marker)
        let text = try #require(code.last?.components(separatedBy: "\n// end").first)
        #expect(article.contains("```swift\n\(text)\n```"), "the article must contain:\n\(text)")
        let report = await check(
            ServerDialect(Self.kinto()), at: "https://kinto.test/v1", over: KintoFace())
        let hasFailures = report.hasFailures
        #expect(!hasFailures, "\(report.text)")
    }

    @Test("Identifiers are unique and in order, and promises and advice are no sentences with a full stop")
    func checks() {
        let ids = DialectConformance.checks.map(\.id)
        #expect(ids == ids.sorted() && Set(ids).count == ids.count)
        #expect(!DialectConformance.checks.contains { $0.promise.hasSuffix(".") || $0.explanation.hasSuffix(".") })
    }

    @Test("A run needs a column that it can change, and its report names the dialect and not the key of the address")
    func reports() async throws {
        var run = Self.kinto(ServerDialect(Self.kinto()), KintoFace())
        run.url += "?key=secret"
        run.schema = TableSchema("Todo", columns: [.bool("done")], idMatching: .exact)
        let report = await run.report()
        #expect(report.stores[0].name == "kinto/b" && report.settings.server == "https://kinto.test/v1")
        let (text, hasFailures) = (report.text, report.hasFailures)
        #expect(!text.contains("secret") && !hasFailures, "\(text)")
    }
}

// article: conformance
func check(_ dialect: ServerDialect, at url: String, over transport: any Transport) async -> ConformanceReport {
    let schema = TableSchema("Todo", columns: [.string("text"), .int("count"), .json("tags")], idMatching: .exact)
    var run = DialectConformance(url: url, dialect: dialect, schema: schema, transport: transport)
    run.user = SignedInUser(userID: "ann", authenticationToken: "ann:secret")
    run.hasChangeSignals = true
    return await run.report()
}
// end

/// A dialect of Kinto that is broken in one way.
struct KintoFlaw: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// The check that must find it.
    var check: String
    var request: @Sendable (inout ServerRequest) -> Void = { _ in }
    var rowMeaning: @Sendable (TransportResponse, inout AnswerMeaning) -> Void = { _, _ in }
    var pageMeaning: @Sendable (inout AnswerMeaning) -> Void = { _ in }
    var page: @Sendable (inout Tideline.ServerPage<Int64>, Int64?) -> Void = { _, _ in }
    var acceptsAnyID = false
    var dropsFirstSignals = false
    var collidesEvery = 0

    static let all: [KintoFlaw] = [
        KintoFlaw(
            testDescription: "any 404 is gone", check: "DIA-306",
            rowMeaning: { response, meaning in
                if response.response.status == .notFound { meaning.kind = .gone }
            }),
        KintoFlaw(
            testDescription: "409 is a conflict", check: "DIA-209",
            rowMeaning: { response, meaning in
                if response.response.status == .conflict { meaning = .conflict(nil) }
            }, collidesEvery: 3),
        KintoFlaw(testDescription: "there is no step back", check: "DIA-408", page: { page, _ in page.nextPull = nil }),
        KintoFlaw(testDescription: "signals have no baseline", check: "DIA-601", dropsFirstSignals: true),
        KintoFlaw(
            testDescription: "503 lasts a day", check: "DIA-309",
            rowMeaning: { response, meaning in
                if response.response.status == .serviceUnavailable { meaning.retryAfter = .seconds(86_400) }
            }),
        KintoFlaw(
            testDescription: "tombstones are ignored", check: "DIA-403",
            page: { page, _ in
                page.rows.removeAll { $0["deleted"] == true }
            }),
        KintoFlaw(
            testDescription: "an update has no version", check: "DIA-202",
            request: { request in
                if request.method == .patch { request.headers[.ifMatch] = nil }
            }),
        KintoFlaw(
            testDescription: "a delete has no version", check: "DIA-203",
            request: { request in
                if request.method == .delete { request.headers[.ifMatch] = nil }
            }),
        KintoFlaw(
            testDescription: "a lost update is sent without a version", check: "DIA-502",
            request: { request in
                if request.method == .patch { request.headers[.ifMatch] = nil }
            }),
        KintoFlaw(testDescription: "an insert replaces", check: "DIA-201", request: { $0.headers[.ifNoneMatch] = nil }),
        KintoFlaw(testDescription: "every page is the last", check: "DIA-401", page: { page, _ in page.isLast = true }),
        KintoFlaw(
            testDescription: "the cursor is that of the page before", check: "DIA-401",
            page: { page, cursor in
                page.cursor = cursor ?? 0
            }),
        KintoFlaw(
            testDescription: "texts are cut", check: "DIA-102",
            page: { page, _ in
                for index in page.rows.indices {
                    page.rows[index]["text"] = page.rows[index]["text"]?.string.map { .string(String($0.prefix(255))) }
                }
            }),
        KintoFlaw(
            testDescription: "a restored server is not recognized", check: "DIA-407",
            pageMeaning: { meaning in
                if meaning.kind == .gone { meaning.kind = .done }
            }),
        KintoFlaw(testDescription: "ids are not validated", check: "DIA-104", acceptsAnyID: true),
        KintoFlaw(
            testDescription: "nulls are not sent", check: "DIA-103",
            request: { request in
                request.body = request.body.map {
                    Array(String(decoding: $0, as: UTF8.self).replacing(#/"[a-z]+":null,?/#, with: "").utf8)
                }
            }),
        KintoFlaw(
            testDescription: "a missing row is a conflict", check: "DIA-204",
            rowMeaning: { _, meaning in
                if meaning.kind == .gone { meaning = .refused("missing") }
            }),
        KintoFlaw(
            testDescription: "versions are not read", check: "DIA-207",
            rowMeaning: { _, meaning in
                if meaning.row != nil { meaning.row?["version"] = .string("1") }
            }),
    ]
}

/// The dialect with a flaw.
struct BrokenKinto: CustomDialect {
    let base: KintoDialect
    let flaw: KintoFlaw

    var name: String { base.name }

    func request(for page: PageRequest, after cursor: Int64?) throws -> ServerRequest {
        try base.request(for: page, after: cursor)
    }

    func page(in response: TransportResponse, to page: PageRequest, after cursor: Int64?) throws
        -> Tideline.ServerPage<Int64>
    {
        var read = try base.page(in: response, to: page, after: cursor)
        flaw.page(&read, cursor)
        return read
    }

    func meaning(of response: TransportResponse, to page: PageRequest, after cursor: Int64?) throws -> AnswerMeaning {
        var meaning = try base.meaning(of: response, to: page, after: cursor)
        flaw.pageMeaning(&meaning)
        return meaning
    }

    func request(for row: RowRequest) throws -> ServerRequest {
        var request = try base.request(for: row)
        flaw.request(&request)
        return request
    }

    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning {
        var meaning = try base.meaning(of: response, to: row)
        flaw.rowMeaning(response, &meaning)
        return meaning
    }

    func isFromService(_ response: TransportResponse) -> Bool? { base.isFromService(response) }
    func validateNewID(_ id: String) throws { if !flaw.acceptsAnyID { try base.validateNewID(id) } }

    /// The signals of the base, or those after the first request.
    func changeSignals(over connection: DialectConnection) -> ChangeSignals? {
        guard flaw.dropsFirstSignals else { return base.changeSignals(over: connection) }
        return ChangeSignals(
            AsyncThrowingStream<String, any Error> { names in
                let task = Task {
                    var last: String?
                    do {
                        while true {
                            let request = try ServerRequest(
                                .get, path: ["buckets", "b", "collections", "Todo", "records"], query: [("_limit", "1")]
                            )
                            let stamp = try await connection.send(request).response.headerFields[.eTag]
                            if let last, last != stamp { names.yield("Todo") }
                            last = stamp
                            try await Task.sleep(for: .milliseconds(20))
                        }
                    } catch {
                        names.finish(throwing: error)
                    }
                }
                names.onTermination = { _ in task.cancel() }
            })
    }
}
