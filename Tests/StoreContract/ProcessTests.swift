import Foundation
import Testing
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Several processes on the same files. `TIDELINE_TEST_KILLS` sets how many times a writer is killed.
@Suite(.serialized) struct ProcessTests {
    private static let kills = ProcessInfo.processInfo.environment["TIDELINE_TEST_KILLS"].flatMap { Int($0) } ?? 4

    @Test(arguments: StoreKind.sharing)
    func processesCreateAndWriteOneStoreAtOnce(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder throws in
            let probes = try (0..<4).map { try Probe(subject, in: folder, prefix: "p\($0)-", count: 40) }
            for probe in probes {
                let end = probe.finish()
                #expect(end.status == 0, "\(end.failure)")
                #expect(end.acknowledged == 40)
            }
            let store = try subject.open(folder)
            #expect(try store.read { try $0.count(Query("left")) } == 160)
            #expect(try store.read { try $0.count(Query("right")) } == 160)
            try store.close()
        }
    }

    @Test(arguments: StoreKind.sharing)
    func aStoreReadsAndWritesBesideAnotherProcess(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder throws in
            let store = try subject.open(folder)
            let probe = try Probe(subject, in: folder, prefix: "p", count: 100)
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

    @Test(arguments: StoreKind.exclusive)
    func anotherProcessIsLockedOutUntilTheStoreIsClosed(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder throws in
            let store = try subject.open(folder)
            let refused = try Probe(subject, in: folder, prefix: "p", count: 1).finish()
            #expect(refused.status == 1 && refused.failure == "locked")
            try store.close()
            #expect(try Probe(subject, in: folder, prefix: "p", count: 1).finish().status == 0)
        }
    }

    @Test(arguments: StoreKind.exclusive)
    func aStoreIsLockedOutUntilTheOtherProcessEnds(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder throws in
            let probe = try Probe(subject, in: folder, prefix: "p", count: 1_000_000)
            #expect(probe.wait(for: 1) > 0)
            expectError(.locked) { _ = try subject.open(folder) }
            _ = probe.kill(after: 0)
            let store = try subject.open(folder)
            #expect(try store.read { try $0.count(Query("left")) } > 0)
            try store.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func whatAKilledWriterAcknowledgedIsThereAndNothingByHalves(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder throws in
            for round in 0..<Self.kills {
                let probe = try Probe(subject, in: folder, prefix: "r\(round)-", count: 1_000_000)
                let acknowledged = probe.kill(after: 5 + round % 40 * 17)
                let store = try subject.open(folder)
                try expectWholeRows("r\(round)-", atLeast: acknowledged, in: store)
                // Nothing of the killed process, such as its lock, stands in the way.
                try store.write { try $0.upsert(["id": .string("after\(round)"), "n": -1], into: "left") }
                #expect(try store.read { try $0.count(Query("left", predicate: .column("n") == -1)) } == round + 1)
                try store.close()
            }
        }
    }

    @Test(arguments: StoreKind.sharing)
    func aWriterThatIsKilledHoldsUpNoStoreThatIsOpen(_ subject: StoreKind) throws {
        try withTemporaryFolder { folder throws in
            let store = try subject.open(folder)
            for round in 0..<Self.kills {
                let probe = try Probe(subject, in: folder, prefix: "r\(round)-", count: 1_000_000)
                let acknowledged = probe.kill(after: 5 + round % 40 * 7)
                try store.write { try $0.upsert(["id": .string("own\(round)"), "n": -1], into: "left") }
                try expectWholeRows("r\(round)-", atLeast: acknowledged, in: store)
            }
            #expect(try store.read { try $0.count(Query("left", predicate: .column("n") == -1)) } == Self.kills)
            try store.close()
        }
    }

    /// The rows of a writer that was killed: numbered without a gap, the same in both tables, all it acknowledged.
    private func expectWholeRows(_ prefix: String, atLeast count: Int, in store: any LocalStore) throws {
        try store.read { reader throws in
            let own = Predicate.column("id").hasPrefix(.literal(.string(prefix)))
            let left = try reader.rows(matching: Query("left", predicate: own).order(by: "n")).rows
            let right = try reader.rows(matching: Query("right", predicate: own).order(by: "n")).rows
            #expect(left == right)
            #expect(left.count >= count)
            #expect(left.map { $0["n"] } == left.indices.map { .int(Int64($0)) })
        }
    }
}
