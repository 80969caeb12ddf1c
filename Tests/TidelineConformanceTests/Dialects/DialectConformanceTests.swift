import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineConformance
import TidelineMemory
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
        run.emptyServer = { try face.empty() }
        run.holdNextChange = { face.holdNextChange() }
        run.hasChangeSignals = true
        return run
    }

    /// Makes a server of which each write with a multiple of a number collides, and whose pages may be cut.
    static func face(collidesEvery: Int = 0, cutsPages: Bool = false) throws -> KintoFace {
        let store = AnyStore(try MemoryStore())
        var table = schema
        table.systemColumns = .all
        try store.define([table])
        let writes = Mutex(0)
        // The server's time passes with its requests. By the real clock, a change that is held back could be older than
        // the lookback of a pull on a machine that stands still.
        let time = Mutex(Timestamp.now)
        let now: @Sendable () -> Timestamp = {
            time.withLock { time in
                time = time.advanced(byTicks: Timestamp.ticksPerMillisecond)
                return time
            }
        }
        return KintoFace(store, [table], now: now) { fault in
            guard fault == .collision, collidesEvery > 0 else { return cutsPages && fault == .cutPage }
            return writes.withLock { writes in
                writes += 1
                return writes.isMultiple(of: collidesEvery)
            }
        }
    }

    static func kinto() -> KintoDialect {
        var dialect = KintoDialect(bucket: "b")
        dialect.pollInterval = .milliseconds(20)
        return dialect
    }

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
        try await expectPassed(try Self.kinto(ServerDialect(Self.kinto()), Self.face()), skipping: [])
        let face = try Self.face(collidesEvery: 3, cutsPages: true)
        try await expectPassed(Self.kinto(ServerDialect(Self.kinto()), face), skipping: [])
    }

    private func expectPassed(_ run: DialectConformance, skipping skipped: Set<String>) async throws {
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
        let face = try Self.face(collidesEvery: 4, cutsPages: true)
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
            ServerDialect(BrokenKinto(base: Self.kinto(), flaw: flaw)), try Self.face(collidesEvery: flaw.collidesEvery)
        )
        run.patience = .seconds(3)
        let check = try #require(DialectConformance.checks.first { $0.id == flaw.check })
        let result = await run.run(check)
        #expect(result.status == .failed, "\(flaw): \(result)")
        #expect(result.failure?.message.contains("expected: ") == true && result.failure?.script?.isEmpty == false)
    }

    @Test("The article contains the code of a run, which passes")
    func article() async throws {
        let article = try packageText("Sources/Tideline/Tideline.docc/SpeakingToAnotherServer.md")
        let file = try packageText("Tests/TidelineConformanceTests/Dialects/DialectConformanceTests.swift")
        let code = file.components(separatedBy: "\n// article: conformance\n")
        let text = try #require(code.last?.components(separatedBy: "\n// end").first)
        #expect(article.contains("```swift\n\(text)\n```"), "the article must contain:\n\(text)")
        let report = await check(ServerDialect(Self.kinto()), at: "https://kinto.test/v1", over: try Self.face())
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
        var run = try Self.kinto(ServerDialect(Self.kinto()), Self.face())
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
