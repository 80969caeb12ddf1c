import SortedFileStore
import Testing
import TidelineConformance
import TidelineKeyValue
import TidelineLMDB
import TidelineLevelDB
import TidelineMemory
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Runs the suite's checks of engines, and tests what they do not cover.
@Suite struct EngineTests {
    private struct Own: Error {}

    private static let space: [UInt8] = [0, 0, 0, 9]
    private static let whole = KeyRange(prefix: space)

    private static func key(_ number: UInt8) -> [UInt8] { space + [number] }

    @Test(arguments: EngineUnderTest.all, Check.all.filter { $0.group == .engine })
    func theChecksOfEnginesPass(_ engine: EngineUnderTest, _ check: Check) async throws {
        var harness = StoreHarness { _ in try MemoryStore() }
        harness.engine = engine.open
        try await ConformanceSuite(harness).verify(check)
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

    /// The suite's check throws from the first call of a body.
    @Test(arguments: EngineUnderTest.all)
    func anErrorOfABodyEndsTheScan(_ engine: EngineUnderTest) throws {
        try engine.withEngine { engine in
            try engine.write { writer throws in for number in 0..<9 { try writer.put(Self.key(UInt8(number)), []) } }
            for limit in 1...3 {
                var calls = 0
                #expect(throws: Own.self) {
                    try engine.read { reader throws in
                        try reader.scan(Self.whole, descending: limit == 2) { _, _ in
                            calls += 1
                            if calls == limit { throw Own() }
                            return .next
                        }
                    }
                }
                #expect(calls == limit)
            }
            #expect(try engine.read { try $0.entries(in: Self.whole) }.count == 9)
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func keySpacesDoNotReachIntoEachOther(_ engine: EngineUnderTest) throws {
        let spaces: [[UInt8]] = [
            [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 0, 255], [0, 0, 1, 0], [127, 255, 255, 255],
            [128, 0, 0, 0], [255, 255, 255, 254],
        ]
        try engine.withEngine { engine in
            try engine.write { writer throws in
                for space in spaces {
                    for key in [[], [0], [255, 255], space] { try writer.put(space + key, space) }
                }
            }
            for space in spaces {
                try engine.read { reader throws in
                    for descending in [false, true] {
                        let entries = try reader.entries(in: KeyRange(prefix: space), descending: descending)
                        #expect(entries.count == 4)
                        #expect(entries.allSatisfy { $0.key.starts(with: space) && $0.value == space })
                    }
                }
                try engine.write { writer throws in
                    for entry in try writer.entries(in: KeyRange(prefix: space)) { _ = try writer.delete(entry.key) }
                    #expect(try writer.entries(in: KeyRange(prefix: space)).isEmpty)
                }
            }
        }
    }

    @Test(arguments: EngineUnderTest.all)
    func largeValuesAreKept(_ engine: EngineUnderTest) throws {
        func value(_ number: Int) -> [UInt8] {
            [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1_000_000 + number)
        }
        try engine.withEngine { engine in
            for round in 0..<3 {
                try engine.write { writer throws in
                    for number in 0..<5 { try writer.put(Self.space + [UInt8(number)], value(number * 7 + round)) }
                    try writer.put(Self.space + [2, 2], [])
                    let isOwnSeen = try writer.value(Self.space + [4]) == value(28 + round)
                    #expect(isOwnSeen)
                }
            }
            #expect(try engine.write { try $0.delete(Self.space + [3]) })
            try engine.read { reader throws in
                let expected = [value(2), value(9), value(16), [], value(30)]
                let isSame = try reader.entries(in: Self.whole).map(\.value) == expected
                #expect(isSame)
            }
        }
    }

    /// Runs random transactions on an engine and on a model, which must agree at every step.
    @Test(arguments: EngineUnderTest.all)
    func tenThousandRandomOperationsDoWhatTheModelDoes(_ engine: EngineUnderTest) throws {
        let seed = UInt64.random(in: 0...99_999)
        let folder = try TemporaryFolder()
        var script = RandomScript(seed: seed)
        var opened = try engine.open(folder.path)
        try opened.read { try script.expectAgreement($0) }
        while script.operations < 10_000 {
            try script.runTransaction(on: opened)
            if engine.isPersistent, script.decides(1, of: 20) {
                try opened.close()
                opened = try engine.open(folder.path)
            }
            try opened.read { try script.expectAgreement($0) }
        }
        try opened.close()
    }
}

/// An engine that is tested against the documentation of ``OrderedKeyValueEngine``. To add an engine, add a case to
/// ``all``.
struct EngineUnderTest: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var isPersistent = true
    /// Opens the engine in a folder, or creates an empty one if it is not persistent.
    let open: @Sendable (_ folder: String) throws -> any OrderedKeyValueEngine

    static let all: [EngineUnderTest] = [
        EngineUnderTest(testDescription: "memory", isPersistent: false) { _ in MemoryEngine() },
        EngineUnderTest(testDescription: "LMDB") { try LMDBEngine(path: "\($0)/store") },
        EngineUnderTest(testDescription: "LevelDB") { try LevelDBEngine(path: "\($0)/store") },
        EngineUnderTest(testDescription: "sorted file") { try SortedFileEngine(path: "\($0)/log") },
    ]

    /// Calls `body` with an empty engine.
    func withEngine<T>(_ body: (any OrderedKeyValueEngine) throws -> T) throws -> T {
        try withTemporaryFolder { folder in
            let engine = try open(folder)
            do {
                let result = try body(engine)
                try engine.close()
                return result
            } catch {
                try? engine.close()
                throw error
            }
        }
    }
}
