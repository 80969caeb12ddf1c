import Foundation
import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestSupport

/// Several processes on one file. `TIDELINE_TEST_KILLS` sets how many times a writer is killed.
@Suite(.serialized) struct ProcessTests {
    private static let kills = ProcessInfo.processInfo.environment["TIDELINE_TEST_KILLS"].flatMap { Int($0) } ?? 4

    @Test func processesCreateAndWriteOneFileAtOnce() throws {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/store.sqlite"
            let probes = try (0..<4).map { try Probe(path, prefix: "p\($0)-", count: 40) }
            for probe in probes {
                let end = probe.finish()
                #expect(end.status == 0)
                #expect(end.acknowledged == 40)
            }
            let store = try SQLiteStore(path: path)
            #expect(try store.read { try $0.count(Query("left")) } == 160)
            #expect(try store.read { try $0.count(Query("right")) } == 160)
            try store.close()
        }
    }

    @Test func aStoreReadsAndWritesBesideAnotherProcess() throws {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/store.sqlite"
            let store = try SQLiteStore(path: path)
            let probe = try Probe(path, prefix: "p", count: 100)
            try store.define([TableSchema("left", columns: [.int("n"), .string("text")])])
            for number in 0..<100 {
                try store.write { try $0.upsert(["id": .string("own\(number)"), "n": -1], into: "left") }
                let (left, right) = try store.read { reader throws in
                    let query = Query("left", predicate: .column("n") >= 0)
                    // The other process may not have defined its second table yet.
                    let right = (try? reader.schema(of: "right")) == nil ? 0 : try reader.count(Query("right"))
                    return (try reader.count(query), right)
                }
                #expect(left == right)
            }
            #expect(probe.finish().status == 0)
            #expect(try store.read { try $0.count(Query("left")) } == 200)
            try store.close()
        }
    }

    @Test func whatAKilledWriterAcknowledgedIsThereAndNothingByHalves() throws {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/store.sqlite"
            for round in 0..<Self.kills {
                let acknowledged = try Probe(path, prefix: "r\(round)-", count: 1_000_000).kill(after: 5 + round * 17)
                let store = try SQLiteStore(path: path)
                try store.read { reader throws in
                    let own = Predicate.column("id").hasPrefix(.literal(.string("r\(round)-")))
                    let left = try reader.rows(matching: Query("left", predicate: own).order(by: "n")).rows
                    let right = try reader.rows(matching: Query("right", predicate: own).order(by: "n")).rows
                    #expect(left == right)
                    #expect(left.count >= acknowledged)
                    #expect(left.map { $0["n"] } == left.indices.map { .int(Int64($0)) })
                }
                try store.close()
            }
        }
    }

    @Test func aLockHeldForTooLongIsBusy() throws {
        try withTemporaryFolder { folder throws in
            let path = "\(folder)/store.sqlite"
            let holder = try SQLiteStore(path: path)
            try holder.define([TableSchema("t", columns: [])])
            let other = try SQLiteStore(path: path, options: SQLiteOptions(busyTimeout: .milliseconds(20)))
            try holder.write { writer throws in
                try writer.upsert(["id": "1"], into: "t")
                let error = expectError(.busy) { try other.write { try $0.upsert(["id": "2"], into: "t") } }
                #expect(error?.engineCode != nil)
                #expect(try other.read { try $0.count(Query("t")) } == 0)
            }
            try other.write { try $0.upsert(["id": "2"], into: "t") }
            #expect(try holder.read { try $0.count(Query("t")) } == 2)
            try other.close()
            try holder.close()
        }
    }
}
