#if Commands
import Testing
import TidelineStore
import TidelineTestStores

@testable import TidelineBenchmark

@Suite("The store workloads")
struct StoreWorkloadTests {
    private static let kindsAndSeeds = StoreKind.all.map { ($0, UInt64(1)) } + [(.simplest, 2), (.simplest, 3)]

    @Test("Every store gives the reference's answers and restores its rows", arguments: kindsAndSeeds)
    func answersAreThoseOfTheModel(kind: StoreKind, seed: UInt64) throws {
        let settings = BenchmarkSettings(
            // A record has ten columns; the other seeds have one more.
            columns: seed == 1 ? 10 : 11, valueSize: 20,
            keyOrder: KeyOrder.allCases[Int(seed) % KeyOrder.allCases.count], batch: 70,
            readers: 3, seed: seed)
        let workloads = StoreWorkloads(settings, rows: 300, divisor: 100).all
        for (start, workloads) in Dictionary(grouping: workloads, by: \.start) {
            try check(workloads, from: start, settings, kind)
        }
    }

    /// Runs workloads with the same start; those on a loaded store share it, because they restore it.
    private func check(
        _ workloads: [Workload], from start: Workload.Start, _ settings: BenchmarkSettings, _ kind: StoreKind
    ) throws {
        switch start {
        case .empty(let table):
            for workload in workloads {
                try withPair(kind, table, settings) { try $0.run(workload) }
            }
        case .loaded(let table):
            try withPair(kind, table, settings) { pair in
                try pair.answer(.upsert(pair.source.batches(0..<300, of: 100)))
                let before = try pair.answer(.scan(.view))
                for workload in workloads {
                    try pair.run(workload)
                    let after = try pair.answer(.scan(.view))
                    #expect(after == before, "rows after \(workload.id)")
                }
            }
        }
    }

    private func withPair(
        _ kind: StoreKind, _ table: BenchmarkTable, _ settings: BenchmarkSettings, _ body: (SessionPair) throws -> Void
    ) throws {
        try withSession(kind, table) { session in
            let source = settings.source(rows: 300, isIndexed: table.isIndexed)
            try body(SessionPair(session: session, reference: ReferenceSession(source: source), source: source))
        }
    }
}

/// A session and the reference for its answers.
struct SessionPair {
    let session: any BenchmarkSession
    let reference: ReferenceSession
    let source: RowSource

    /// Performs all works of a workload in both sessions.
    func run(_ workload: Workload) throws {
        for maker in [workload.prepare] + workload.steps + [workload.restore] {
            for work in try maker() {
                do {
                    _ = try answer(work, of: workload.id)
                } catch is WorkNotApplicable where workload.id == "reopen" {
                    // In-memory stores do not support it.
                } catch is WorkNotApplicable where workload.id.contains("record") && !source.table.hasRecord {}
            }
        }
    }

    /// Returns the answer, which must be the same in both sessions.
    @discardableResult
    func answer(_ work: Work, of workload: String = "") throws -> Answer {
        let found = try session.perform(work)
        let expected = try reference.perform(work)
        #expect(found == expected, "\(workload)")
        return found
    }
}

@Suite("The list of workloads")
struct WorkloadListTests {
    @Test(
        "Ids are unique, of lowercase letters, digits and hyphens, and every workload has an explanation and work",
        arguments: [1, 100, 100_000, 10_000_000])
    func workloadsAreComplete(rows: Int) {
        let workloads = Workload.all(BenchmarkSettings(), rows: rows)
        #expect(Set(workloads.map(\.id)).count == workloads.count)
        for workload in workloads {
            #expect(workload.id.wholeMatch(of: /[a-z][a-z0-9]*(-[a-z0-9]+)*/) != nil, "\(workload.id)")
            #expect(!workload.title.isEmpty && workload.explanation.hasSuffix("."), "\(workload.id)")
            #expect(workload.units > 0 && !workload.steps.isEmpty, "\(workload.id)")
        }
    }

    @Test("The workloads are the same for any number of rows")
    func sizesHaveTheSameWorkloads() {
        let few = Workload.all(BenchmarkSettings(), rows: 100).map(\.id)
        #expect(few == Workload.all(BenchmarkSettings(), rows: 10_000_000).map(\.id))
    }

    @Test("Bulk work is split into steps of at most a hundred thousand rows")
    func partsAreBounded() throws {
        let workload = try #require(Workload.all(BenchmarkSettings(batch: 30_000), rows: 10_000_000).first)
        #expect(workload.id == "upsert-packed")
        // Three batches have 90,000 rows.
        #expect(workload.steps.count == 112)
    }

    @Test("Numbers of threads double up to the maximum", arguments: [(1, [1]), (3, [1, 2, 3]), (8, [1, 2, 4, 8])])
    func threadsDouble(readers: Int, expected: [Int]) {
        let ids = Workload.all(BenchmarkSettings(readers: readers), rows: 100).map(\.id)
        #expect(ids.filter { $0.hasPrefix("get-threads-") } == expected.map { "get-threads-\($0)" })
    }
}
#endif
