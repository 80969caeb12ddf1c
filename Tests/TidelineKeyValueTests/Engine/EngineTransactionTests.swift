import Foundation
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestSupport

/// Tests of transactions, snapshots and threads.
@Suite struct EngineTransactionTests {
    private static let whole = KeyRange(prefix: [0, 0, 0, 9])

    private static func key(_ number: Int) -> [UInt8] {
        [0, 0, 0, 9] + withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }

    private struct Own: Error {}

    @Test(arguments: EngineUnderTest.all)
    func aTransactionThatThrowsLeavesNothing(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            try engine.write { try $0.put(Self.key(1), [1]) }
            for _ in 0..<3 {
                #expect(throws: Own.self) {
                    try engine.write { writer throws in
                        try writer.put(Self.key(1), [2])
                        try writer.put(Self.key(2), [2])
                        _ = try writer.delete(Self.key(1))
                        throw Own()
                    }
                }
                let entries = try engine.read { try $0.entries(in: Self.whole) }
                #expect(entries == [.init(key: Self.key(1), value: [1])])
            }
            #expect(try engine.write { try $0.insert(Self.key(2), [3]) } == nil)
            #expect(try engine.read { try $0.value(Self.key(2)) } == [3])
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func bodiesRunOnceAndTheirResultsComeBack(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            var calls = 0
            func call() -> Int {
                calls += 1
                return calls
            }
            let written = try engine.write { _ in call() }
            let read = try engine.read { _ in call() }
            #expect(written == 1 && read == 2)
            #expect(throws: Own.self) {
                try engine.read { _ throws in
                    _ = call()
                    throw Own()
                }
            }
            #expect(calls == 3)
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func readsNestAndSeeWhatIsCommitted(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            try engine.write { try $0.put(Self.key(1), [1]) }
            try engine.write { writer throws in
                try writer.put(Self.key(1), [2])
                try engine.read { outer throws in
                    #expect(try outer.value(Self.key(1)) == [1])
                    try engine.read { inner throws in #expect(try inner.value(Self.key(1)) == [1]) }
                    #expect(try outer.entries(in: Self.whole).count == 1)
                }
                #expect(try writer.value(Self.key(1)) == [2])
            }
            #expect(try engine.read { try $0.value(Self.key(1)) } == [2])
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func aSnapshotStandsStillWhileAnotherThreadWrites(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            guard engine.capabilities.readersDoNotBlockWriters else { return }
            try engine.write { writer throws in for number in 0..<300 { try writer.put(Self.key(number), [0]) } }
            // The first half gets new values, the second half is deleted.
            @Sendable func rewrite(_ step: Int) throws {
                try engine.write { writer throws in
                    for number in 0..<150 { try writer.put(Self.key(number), [UInt8(step), 1, 1]) }
                    for number in 150..<300 { _ = try writer.delete(Self.key(number)) }
                    try writer.put(Self.key(1000 + step), [1])
                }
            }
            try engine.read { reader throws in
                let before = try reader.entries(in: Self.whole)
                var steps = 0
                try reader.scan(Self.whole, descending: false) { key, value in
                    #expect(Array(key) == Self.key(steps) && Array(value) == [0])
                    if steps.isMultiple(of: 50) { try onThreads { [steps] _ in try rewrite(steps) } }
                    steps += 1
                    return .next
                }
                #expect(steps == 300)
                #expect(try reader.entries(in: Self.whole) == before)
                #expect(try reader.value(Self.key(1000)) == nil)
            }
            #expect(try engine.read { try $0.entries(in: Self.whole) }.count == 156)
        }
    }

    /// Each transaction moves an amount from one counter to another, so every snapshot has the same sum.
    @Test(arguments: EngineUnderTest.all)
    func manyReadersBesideAWriterSeeWholeCommits(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            let counters = 40
            try engine.write { writer throws in for number in 0..<counters { try writer.put(Self.key(number), [100]) } }
            DispatchQueue.concurrentPerform(iterations: 5) { thread in
                #expect(throws: Never.self) {
                    for round in 0..<100 {
                        if thread == 0 {
                            try Self.move(1, from: round % counters, to: (round * 7 + 1) % counters, in: engine)
                        } else {
                            let entries = try engine.read { try $0.entries(in: Self.whole, descending: thread == 1) }
                            #expect(entries.count == counters)
                            #expect(entries.reduce(0) { $0 + Int($1.value[0]) } == counters * 100)
                        }
                    }
                }
            }
        }
    }

    private static func move(
        _ amount: UInt8, from source: Int, to target: Int, in engine: any OrderedKeyValueEngine
    ) throws {
        try engine.write { writer throws in
            let taken = try #require(try writer.value(key(source)))
            try writer.put(key(source), [taken[0] - amount])
            let given = try #require(try writer.value(key(target)))
            try writer.put(key(target), [given[0] + amount])
        }
    }

    @Test(arguments: EngineUnderTest.persistent)
    func whatIsCommittedIsThereAfterReopening(_ engine: EngineUnderTest) throws {
        let folder = try TemporaryFolder()
        var expected: [MapModel.Entry] = []
        for round in 0..<5 {
            let opened = try engine.open(folder.path)
            #expect(try opened.read { try $0.entries(in: Self.whole) } == expected)
            try opened.write { writer throws in
                try writer.put(Self.key(round), [UInt8(round)])
                if round == 3 { _ = try writer.delete(Self.key(0)) }
            }
            #expect(throws: Own.self) {
                try opened.write { writer throws in
                    try writer.put(Self.key(77), [])
                    throw Own()
                }
            }
            expected = try opened.read { try $0.entries(in: Self.whole) }
            #expect(expected.count == (round < 3 ? round + 1 : round))
            try opened.close()
        }
    }
}
