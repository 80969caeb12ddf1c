import Testing
import TidelineKeyValue
import TidelineMemory
import TidelineStore

@testable import TidelineConformance

/// Tests both sides of the suite's second process.
@Suite struct ConformanceChildTests {
    private static let harness = StoreHarness(modes: []) { _ in try MemoryStore() }

    @Test func argumentsThatAreNoJobAreLeftAlone() {
        #expect(ConformanceChild.run(arguments: ["tool", "--list"], harness: Self.harness) == nil)
        #expect(ConformanceChild.run(arguments: [], harness: Self.harness) == nil)
    }

    @Test(arguments: [[], ["{}"], ["not JSON"]])
    func aJobThatCannotBeReadIsRefused(_ job: [String]) {
        let arguments = ["tool", ChildJob.marker] + job
        #expect(ConformanceChild.run(arguments: arguments, harness: Self.harness) == ChildJob.Status.unknownJob)
    }

    /// Such a failure is unrelated to the store, so there is no verdict. The check needs a store that claims to be
    /// persistent.
    @Test(arguments: ["/bin/false", "/bin/none", "/bin/cat"])
    func anExecutableThatDoesNoJobsIsNoVerdict(_ executable: String) async throws {
        let harness = StoreHarness(
            name: "lasting", modes: [], process: StoreProcess(executable: executable), damagesFiles: false
        ) { _ in DeclaringStore(try MemoryStore()) { $0 = StoreCapabilities(name: "lasting") } }
        let check = try #require(Check.named("DUR-101"))
        let result = await ConformanceSuite(harness).run(check)
        #expect(result.status == .harnessError)
        #expect(result.failure?.message.contains(executable) == true)
    }

    @Test func whatTransactionsLeaveIsWhatTheyDid() throws {
        let transactions = PairedTransactions(writer: "w", count: 9, rows: 3)
        let store = try MemoryStore()
        try store.define(PairedTransactions.tables)
        for number in transactions.numbers {
            try store.write { try transactions.apply(number, to: $0) }
            for table in ["left", "right"] {
                let rows = try store.read { try $0.allRows(table) }
                #expect(RowDifference(found: rows, expected: transactions.rows(after: number + 1)) == nil)
                #expect(transactions.total(in: rows) == number + 1)
            }
        }
    }

    @Test func whatCommitsLeaveIsWhatTheyDid() throws {
        let store = try MemoryStore()
        for number in 0..<KnownContent.commits {
            try KnownContent.fill(store, number..<(number + 1))
            for table in KnownContent.tables {
                let rows = try store.read { try $0.allRows(table.name) }
                let expected = try #require(KnownContent.states[number + 2][table.name]?.rows)
                #expect(RowDifference(found: rows, expected: expected) == nil)
            }
        }
    }
}
