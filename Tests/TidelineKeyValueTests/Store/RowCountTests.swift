import SortedFileStore
import Testing
import TidelineLMDB
import TidelineMemory
import TidelineStore
import TidelineTestSupport

@testable import TidelineKeyValue

/// Tests the row counts that a store caches between transactions.
@Suite struct RowCountTests {
    private static let table = TableSchema("t", columns: [.int("n")])

    private static func rows(_ numbers: Range<Int>) -> [Row] {
        numbers.map { ["id": .string("row \($0)"), "n": .int(Int64($0))] }
    }

    private static func count(in store: some LocalStore) throws -> Int {
        try store.read { try $0.count(TableQuery("t")) }
    }

    @Test func storesThatTakeTurnsCountWhatTheOtherWrote() throws {
        let folder = try TemporaryFolder()
        let stores = [try LMDBStore(path: folder.path), try LMDBStore(path: folder.path)]
        try stores[0].define([Self.table])
        for turn in 0..<6 {
            try stores[turn % 2].write { try $0.upsert(Self.rows(turn * 3..<turn * 3 + 3), into: "t") }
            // Write twice from the same store, once from each, and once without changing the number of rows.
            if turn % 3 == 0 {
                try stores[turn % 2].write { try $0.upsert(Self.rows(1000 + turn..<1001 + turn), into: "t") }
                try stores[1 - turn % 2].write { try $0.upsert(Self.rows(0..<3), into: "t") }
            }
            for store in stores { #expect(try Self.count(in: store) == 3 * (turn + 1) + turn / 3 + 1) }
        }
        for store in stores { try store.close() }
    }

    /// A transaction that changed nothing ends after a read has seen the next commit of another process.
    @Test func countsOfAnEarlierCommitAreNotKept() {
        let rows = KeySpace(number: 1)
        var counts = RowCounts()
        counts.change(rows, to: 5)
        var definitions = Definitions(catalog: .empty)
        func end(after preceding: UInt64, at commit: UInt64?) {
            let outcome = TransactionOutcome(
                catalog: .empty, precedingCommit: preceding, commit: commit, rowCounts: counts)
            definitions.update(outcome)
        }
        end(after: 9, at: 10)
        let checkedOut = definitions.checkOutRowCounts().rowCounts
        #expect(checkedOut[rows] == 5)
        definitions.update(.empty, at: 11)
        end(after: 10, at: nil)
        #expect(definitions.commit == 11)
        #expect(definitions.rowCounts[rows] == nil)
        end(after: 11, at: nil)
        #expect(definitions.rowCounts[rows] == 5)
    }

    @Test func aTransactionThatCameToNothingCountsForNothing() throws {
        struct Own: Error {}
        let (engine, store) = try openStore(Self.table)
        try store.write { try $0.upsert(Self.rows(0..<5), into: "t") }
        #expect(throws: Own.self) {
            try store.write { writer throws in
                try writer.upsert(Self.rows(5..<9), into: "t")
                throw Own()
            }
        }
        let steps = try engine.countSteps { try store.write { try $0.upsert(Self.rows(5..<7), into: "t") } }
        #expect(try Self.count(in: store) == 7)
        // Fail at each step, including the commit.
        for step in 0..<steps {
            _ = engine.faults.remainder(of: step) {
                _ = try? store.write { _ = try $0.upsert(Self.rows(7..<9), into: "t") }
            }
            #expect(try Self.count(in: store) == 7)
        }
        try store.write { try $0.upsert(Self.rows(7..<9), into: "t") }
        #expect(try Self.count(in: store) == 9)
    }

    @Test func rowsAreCountedAnewWhenIndexesAreMadeAnew() throws {
        let base = MemoryEngine()
        let (_, store) = try openStore(over: WrappedEngine(base), Self.table)
        try store.write { try $0.upsert(Self.rows(0..<5), into: "t") }
        try base.write { transaction in
            let lost = KeySpace(number: 1).prefix + Array("row 3".utf8)
            #expect(lost.withUnsafeBytes { transaction.delete($0) })
        }
        try store.rebuildIndexes()
        try store.write { try $0.upsert(Self.rows(5..<6), into: "t") }
        #expect(try Self.count(in: store) == 5)
    }
}
