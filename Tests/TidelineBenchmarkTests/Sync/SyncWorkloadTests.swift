#if Commands
import Histogram
import Testing
import TidelineStore
import TidelineTestStores

@testable import TidelineBenchmark

@Suite("Sync workloads")
struct SyncWorkloadTests {
    private static let settings = BenchmarkSettings(rows: [120])

    /// The expected count of each workload.
    private static let counts = [
        "pull-replay-100x1": 120, "pull-replay-100x8": 120, "pull-replay-1000x1": 120, "pull-replay-1000x8": 120,
        "pull-replay-dialect": 120, "pull-pending": 108,
        "pull-initial-100x1": 120, "pull-initial-100x8": 120, "pull-initial-1000x1": 120, "pull-initial-1000x8": 120,
        "pull-indexed-1000x8": 120, "pull-live-1000x8": 120,
        "pull-incremental": 1, "pull-nothing": 0, "local-edits": 120, "local-inserts": 120,
        "local-inserts-1000": 120, "insert-idle": 120, "insert-beside-pull": 120, "push-rtt0": 120, "push-rtt20": 100,
        "push-rtt20x8": 120, "restart-queue": 120, "purge": 120, "json-parse": 120,
    ]

    /// All sync workloads, with a new server.
    private static func makeWorkloads() -> [Workload] { Workload.syncWorkloads(settings, rows: 120) }

    @Test("Each workload has an expected count and a valid number of units")
    func isComplete() {
        #expect(Self.makeWorkloads().map(\.id).sorted() == Self.counts.keys.sorted())
        for rows in [100, 1_000, 100_000, 10_000_000] {
            let workloads = Workload.syncWorkloads(BenchmarkSettings(rows: [rows]), rows: rows)
            #expect(workloads.count == Self.counts.count)
            #expect(workloads.allSatisfy { $0.units > 0 && $0.units <= min(rows, 100_000) })
        }
        #expect(Workload.syncWorkloads(BenchmarkSettings(rows: [100_000, 1_000_000]), rows: 1_000_000).isEmpty)
    }

    @Test("Each workload has its expected answer, twice in a row", arguments: StoreKind.all)
    func isRight(kind: StoreKind) throws {
        for workload in Self.makeWorkloads() where workload.field == .databases {
            // Only persistent stores restart, and one store is enough for the slow round trips.
            if workload.id == "restart-queue", !kind.isPersistent { continue }
            if workload.id.hasPrefix("push-rtt20"), kind.testDescription != StoreKind.simplest.testDescription {
                continue
            }
            for _ in 1...2 {
                try withSession(kind, BenchmarkTable()) { session in
                    let answer = try answer(of: workload, session)
                    #expect(answer == Answer(count: Self.counts[workload.id] ?? -1), "\(workload.id)")
                }
            }
        }
    }

    @Test("A replayed pull stores the same rows as an upsert", arguments: StoreKind.all, [1, 8])
    func replayIsUpsert(kind: StoreKind, pages: Int) throws {
        let source = Self.settings.source(rows: 120)
        let scan = Work.scan(.view)
        var answers: [Answer] = []
        let replay = Work.pull(try SyncServer(source, rows: 120).pages(of: 100, perTransaction: pages))
        for work in [replay, .upsert(try source.batches(0..<120, of: 100))] {
            try withSession(kind, source.table) { session in
                #expect(try session.perform(work).count == 120)
                answers.append(try session.perform(scan))
            }
        }
        #expect(answers.first == answers.last && answers.first?.count == 120)
    }

    @Test("An in-memory store does not restart, and no store parses JSON")
    func isNotApplicable() throws {
        try withSession(.simplest, BenchmarkTable()) { session in
            #expect(throws: WorkNotApplicable.self) { try session.perform(.sync(.restart)) }
            let pages = JSONPages(bodies: [], rows: 0)
            #expect(throws: WorkNotApplicable.self) { try session.perform(.parse(pages)) }
        }
    }

    @Test("A pull records the latency of each transaction, a push and edits that of each operation")
    func notesLatencies() throws {
        let source = Self.settings.source(rows: 120)
        let server = SyncServer(source, rows: 120)
        try withSession(.simplest, source.table) { session in
            let operations = { (work: SyncWork) throws -> Int in
                let latencies = LatencySink()
                _ = try session.perform(.sync(work), noting: latencies)
                return Int(latencies.histogram.totalCount)
            }
            // Five pages of 26, which repeat the last row of the page before, and one more to find the end.
            let counts = [
                try operations(.pull(server, pageSize: 26, pagesPerTransaction: 2)),
                try operations(.edit(LocalEdit.mix(20, of: source, rows: 120))),
                try operations(.push(server, roundTrip: .zero)), try operations(.purge),
            ]
            #expect(counts == [3, 20, 19, 1])
        }
    }

    @Test("A reset server has its original rows, and assigns the same versions again")
    func resets() throws {
        let source = Self.settings.source(rows: 120)
        let server = SyncServer(source, rows: 120)
        var scans: [[Answer]] = []
        for _ in 1...2 {
            try withSession(.simplest, source.table) { session in
                func scan(after works: SyncWork...) throws -> Answer {
                    for work in works { _ = try session.perform(.sync(work)) }
                    return try session.perform(.scan(.view))
                }
                let pull = SyncWork.pull(server, pageSize: 100, pagesPerTransaction: 1)
                let edits = SyncWork.edit(LocalEdit.mix(50, of: source, rows: 120))
                let push = SyncWork.push(server, roundTrip: .zero)
                scans.append([
                    try scan(after: pull), try scan(after: .serve(server, .others(7)), pull),
                    try scan(after: edits, .serve(server, .expectEdits(50)), push, pull),
                ])
                _ = try scan(after: .serve(server, .reset))
            }
        }
        #expect(scans[0] == scans[1] && Set(scans[0]).count == 3)
    }

    private func answer(of workload: Workload, _ session: any BenchmarkSession) throws -> Answer {
        for work in try workload.prepare() { _ = try session.perform(work) }
        var answer = Answer()
        for step in workload.steps {
            for work in try step() { answer += try session.perform(work) }
        }
        for work in try workload.restore() { _ = try session.perform(work) }
        return answer
    }
}
#endif
