import Testing

@testable import TidelineBenchmark

@Suite("The list of workloads")
struct WorkloadListTests {
    @Test("Ids are unique and made of small letters, digits and hyphens", arguments: [100, 100_000, 10_000_000])
    func idsAreUsable(rows: Int) {
        let workloads = Workload.all(BenchmarkSettings(), rows: rows)
        #expect(Set(workloads.map(\.id)).count == workloads.count)
        for workload in workloads {
            #expect(workload.id.wholeMatch(of: /[a-z][a-z0-9]*(-[a-z0-9]+)*/) != nil, "\(workload.id)")
        }
    }

    @Test("Every workload says what it does and does something", arguments: [1, 100, 100_000])
    func workloadsAreExplained(rows: Int) {
        for workload in Workload.all(BenchmarkSettings(), rows: rows) {
            #expect(!workload.title.isEmpty && workload.explanation.hasSuffix("."), "\(workload.id)")
            #expect(workload.units > 0 && !workload.steps.isEmpty, "\(workload.id)")
        }
    }

    @Test("The same workloads whatever the number of rows")
    func sizesHaveTheSameWorkloads() {
        let few = Workload.all(BenchmarkSettings(), rows: 100).map(\.id)
        #expect(few == Workload.all(BenchmarkSettings(), rows: 10_000_000).map(\.id))
    }

    @Test("Bulk work on ten million rows is made in parts of at most a hundred thousand")
    func partsAreBounded() throws {
        let workload = try #require(Workload.all(BenchmarkSettings(batch: 30_000), rows: 10_000_000).first)
        #expect(workload.id == "upsert-packed")
        // 90,000 rows are three whole batches.
        #expect(workload.steps.count == 112)
    }

    @Test("Threads are doubled up to the most", arguments: [(1, [1]), (3, [1, 2, 3]), (8, [1, 2, 4, 8])])
    func threadsDouble(readers: Int, expected: [Int]) {
        let ids = Workload.all(BenchmarkSettings(readers: readers), rows: 100).map(\.id)
        #expect(ids.filter { $0.hasPrefix("get-threads-") } == expected.map { "get-threads-\($0)" })
    }
}
