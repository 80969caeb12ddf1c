import Testing
import TidelineStore
import TidelineTestStores

@testable import TidelineBenchmark

@Suite("The workloads of any database")
struct StoreWorkloadTests {
    private static let kindsAndSeeds = StoreKind.all.map { ($0, UInt64(1)) } + [(.simplest, 2), (.simplest, 3)]

    @Test("Every store answers as the model does, and has its rows again afterwards", arguments: kindsAndSeeds)
    func answersAreThoseOfTheModel(kind: StoreKind, seed: UInt64) throws {
        let settings = BenchmarkSettings(
            columns: 11, valueSize: 20, keyOrder: KeyOrder.allCases[Int(seed) % KeyOrder.allCases.count], batch: 70,
            readers: 3, seed: seed)
        let workloads = StoreWorkloads(settings, rows: 300, divisor: 100).all
        for (start, workloads) in Dictionary(grouping: workloads, by: \.start) {
            try check(workloads, from: start, settings, kind)
        }
    }

    /// Runs workloads that begin alike, one after the other in one store where they put back what they change.
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
                try pair.load(rows: 300)
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

/// A session and the model that tells what its answers must be.
struct SessionPair {
    let session: any BenchmarkSession
    let reference: ReferenceSession
    let source: RowSource

    /// Writes the rows of the run.
    func load(rows: Int) throws { _ = try answer(.upsert(source.batches(0..<rows, of: 100))) }

    /// Does all of a workload, each work answered by both.
    func run(_ workload: Workload) throws {
        for maker in [workload.prepare] + workload.steps + [workload.restore] {
            for work in try maker() {
                do {
                    _ = try answer(work, of: workload.id)
                } catch is WorkNotApplicable where workload.id == "reopen" {
                    // Not for a store that keeps nothing.
                }
            }
        }
    }

    /// The answer of both, which must be the same.
    @discardableResult
    func answer(_ work: Work, of workload: String = "") throws -> Answer {
        let found = try session.perform(work, noting: LatencySink())
        let expected = try reference.perform(work, noting: LatencySink())
        #expect(found == expected, "\(workload)")
        return found
    }
}
