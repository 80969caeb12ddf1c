import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineConformance
import TidelineServer
import TidelineSimulation
import TidelineStore
import TidelineTestStores

@testable import TidelineServerConformance

// One after the other: each case has concurrent clients of its own.
@Suite("The table service passes the conformance suite for servers", .serialized)
struct ServiceConformanceTests {
    @Test(arguments: StoreKind.perEngine, ServerDialect.all)
    func `with each store, in each dialect, in tables that grow`(_ stores: StoreKind, _ dialect: ServerDialect)
        async throws
    {
        #expect(try await deviations(of: ServerFixture(stores, dialect)) == [:])
    }

    @Test(arguments: ServerDialect.all)
    func `with fixed columns, those that the suite asks for`(_ dialect: ServerDialect) async throws {
        let fixture = try ServerFixture(.simplest, dialect, schemas: [ServerFixture.schema])
        #expect(try await deviations(of: fixture) == [:])
    }

    /// Each quirk and the checks that it fails in either dialect; `~` marks those that clients tolerate.
    private static let quirks: [(quirks: ServerQuirks, deviations: Set<String>)] = [
        (.perRowVersions, ["~SRV-404"]),
        (.hardDelete, ["SRV-503"]),
        (.hidesDeletedRows, ["~SRV-508"]),
        (.answersFaultsWith500, ["~SRV-316", "~SRV-811"]),
        (.echoesConflictingInserts, ["~SRV-306"]),
        (.roundsIntegers, ["~SRV-805"]),
        (.makesIDs, ["SRV-302"]),
        (.filtersLikeSQL, ["~SRV-704", "~SRV-719"]),
        (.millisecondStamps, ["~SRV-603"]),
        (.refusesAnyMatch, ["~SRV-411"]),
        (
            .original,
            [
                "~SRV-404", "~SRV-508", "~SRV-316", "~SRV-811", "~SRV-306", "~SRV-805", "~SRV-704", "~SRV-719",
                "~SRV-603", "~SRV-411",
            ]
        ),
    ]

    /// Each quirk in one dialect, in turn, and all of them in both.
    private static let cases = quirks.indices.flatMap { index in
        ServerDialect.all.enumerated().filter { index == quirks.count - 1 || $0.offset == index % 2 }.map {
            (index, $0.element)
        }
    }

    @Test(arguments: cases)
    func `a quirk is found by the checks that are about it, and by no other`(
        _ index: Int, _ dialect: ServerDialect
    ) async throws {
        let (quirks, deviating) = Self.quirks[index]
        // Whole seconds make many rows share a timestamp.
        let isCoarse = quirks.contains(.millisecondStamps)
        let fixture = try ServerFixture(.simplest, dialect, quirks: quirks) {
            isCoarse ? Timestamp.now.flooredToSecond : .now
        }
        let found = try await deviations(of: fixture)
        #expect(Set(found.keys) == deviating, "\(found)")
    }

    @Test func `the quirks in the list above are all that there are`() {
        let listed = ServerQuirks(Self.quirks.map(\.quirks))
        #expect(listed == ServerQuirks(ServerQuirks.named.map(\.quirks)))
    }

    @Test(arguments: ServerDialect.all)
    func `the suite leaves no row behind, and changes no row of others`(_ dialect: ServerDialect) async throws {
        let fixture = try ServerFixture(.simplest, dialect)
        let row = try await ServerCheckContext(fixture.suite().session).insert(["text": "other's"])
        let suite = try fixture.suite(configure: { $0.allowsRows = true })
        for check in suite.checks {
            let result = await suite.run(check)
            #expect(result.status == .passed || result.status == .skipped, "\(check): \(String(describing: result))")
        }
        let leftovers = await suite.finish()
        #expect(leftovers?.contains("deleted rows, which the server keeps") == true, "\(leftovers ?? "nothing")")
        let left = try fixture.store.read { try $0.rows(matching: TableQuery("ConformanceItem")) }.rows
        #expect(left.filter { $0["deleted"] == false }.map(\.idText) == [row.id])
        #expect(left.first { $0.idText == row.id }?["version"]?.string == row.version)
    }

    @Test(arguments: ServerDialect.all)
    func `the shared rows that were inserted before a failure are deleted`(_ dialect: ServerDialect) async throws {
        let fixture = try ServerFixture(.simplest, dialect)
        let suite = try fixture.suite { RefusingTransport(base: $0, limit: 50) }
        await #expect(throws: (any Error).self) { try await suite.session.sharedRows() }
        await suite.finish()
        let left = try fixture.store.read { try $0.rows(matching: TableQuery("ConformanceItem")) }.rows
        // The failure cancels the inserts that are in flight.
        #expect((1...50).contains(left.count) && left.allSatisfy { $0["deleted"] == true }, "\(left)")
    }

    @Test(.timeLimit(.minutes(5)), arguments: ServerDialect.all)
    func `a cancelled run ends while shared rows are inserted, and deletes them`(_ dialect: ServerDialect) async throws
    {
        let fixture = try ServerFixture(.simplest, dialect)
        let (stalls, continuation) = AsyncStream<Void>.makeStream()
        let suite = try fixture.suite {
            RefusingTransport(base: $0, limit: 50) {
                continuation.yield()
                try await Task.sleep(for: .seconds(86_400))
            }
        }
        let check = try #require(ServerCheck.all.first { $0.id == "SRV-212" })
        let run = Task { await suite.run(check) }
        _ = await stalls.first { _ in true }
        run.cancel()
        _ = await run.value
        await suite.finish()
        let left = try fixture.store.read { try $0.rows(matching: TableQuery("ConformanceItem")) }.rows
        #expect((1...50).contains(left.count) && left.allSatisfy { $0["deleted"] == true }, "\(left)")
    }

    @Test(arguments: ServerCheck.all.filter(\.readsSharedRows))
    func `the shared rows are inserted before the time of a check begins`(_ check: ServerCheck) async throws {
        let suite = try ServerFixture(.simplest, .zumo2).suite(configure: { $0.timeLimit = .zero })
        _ = await suite.run(check)
        #expect(try await suite.session.sharedRows().rows.count == 130)
    }
}

/// A transport to a server that fails after a number of inserts.
private final class RefusingTransport: Transport {
    private let base: ServiceTransport
    private let limit: Int
    /// Called before each failure.
    private let wait: @Sendable () async throws -> Void
    private let inserts = Atomic(0)

    init(base: ServiceTransport, limit: Int, wait: @escaping @Sendable () async throws -> Void = {}) {
        self.base = base
        self.limit = limit
        self.wait = wait
    }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        guard request.method != .post || inserts.add(1, ordering: .relaxed).newValue <= limit else {
            try await wait()
            return TransportResponse(response: HTTPResponse(status: .internalServerError), body: [])
        }
        return try await base.send(request, body: body, timeout: timeout)
    }
}

/// Returns the results of all checks that deviate, by `SRV-…` for those that failed and `~SRV-…` for tolerated ones.
func deviations(of fixture: ServerFixture) async throws -> [String: String] {
    try await deviations(of: fixture.suite())
}

func deviations(
    of suite: ServerConformance, _ checks: [ServerCheck] = ServerCheck.all
) async throws -> [String: String] {
    var found: [String: String] = [:]
    for check in checks {
        let result = await suite.run(check)
        switch result.status {
        case .passed, .skipped: continue
        case .tolerated: found["~\(check.id)"] = result.reason ?? ""
        default: found[check.id] = "\(result.status): \(result.failure?.message ?? "")\n\(result.failure?.script ?? "")"
        }
    }
    await suite.finish()
    return found
}

extension ServerQuirks {
    /// All of these quirks.
    init(_ quirks: [ServerQuirks]) { self = quirks.reduce([]) { $0.union($1) } }
}

extension Timestamp {
    fileprivate var flooredToSecond: Timestamp { advanced(byTicks: -(ticks % Timestamp.ticksPerSecond)) }
}
