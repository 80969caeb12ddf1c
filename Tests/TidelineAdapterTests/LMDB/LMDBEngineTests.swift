import Foundation
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

@Suite struct LMDBEngineTests {
    private let folder: TemporaryFolder
    private let engine: LMDBEngine

    init() throws {
        folder = try TemporaryFolder()
        engine = try LMDBEngine(path: folder.path)
    }

    @Test func aKeyThatIsTooLongOrShorterThanASpaceIsInvalid() throws {
        let tooLong = key(7, String(repeating: "x", count: engine.maximumKeyLength - 3))
        expectError(.invalidValue) { try engine.write { try $0.put(tooLong, []) } }
        expectError(.invalidValue) { try engine.write { try $0.put([0, 0, 1], []) } }
        expectError(.invalidValue) { _ = try engine.read { try $0.value([1]) } }
    }

    @Test(arguments: [0, 1, 2, 255, 256, 4095, 4096, 0xFFFF_FFFE, 0xFFFF_FFFF] as [UInt32])
    func spacesDoNotReachIntoEachOther(space: UInt32) throws {
        let range = KeyRange(from: key(space), to: key(space, "\u{7F}"))
        try engine.write { transaction throws in
            for other in [space &- 1, space, space &+ 1] {
                try transaction.put(key(other, "k"), [UInt8(other & 0xFF)])
            }
        }
        let expected = [KeyValueEntry(key: key(space, "k"), value: [UInt8(space & 0xFF)])]
        #expect(try engine.read { try $0.entries(in: range) } == expected)
        #expect(try engine.read { try $0.entries(in: range, descending: true) } == expected)
        #expect(try engine.write { try $0.entries(in: range) } == expected)
    }

    @Test func aBodyThatThrowsLeavesNothingNotEvenASpace() throws {
        struct Stop: Error {}
        try engine.write { try $0.put(key(1, "a"), [1]) }
        for _ in 0..<3 {
            #expect(throws: Stop.self) {
                try engine.write { transaction throws in
                    try transaction.put(key(1, "a"), [2])
                    try transaction.put(key(2, "a"), [2])
                    throw Stop()
                }
            }
            #expect(try engine.read { try $0.value(key(1, "a")) } == [1])
            #expect(try engine.count(2) == 0)
        }
        try engine.write { transaction throws in
            try transaction.put(key(3, "a"), [3])
            try transaction.put(key(2, "a"), [2])
        }
        #expect(try engine.read { try $0.value(key(2, "a")) } == [2])
        #expect(try engine.read { try $0.value(key(3, "a")) } == [3])
    }

    @Test func aSnapshotStandsStill() throws {
        try engine.write { try $0.put(key(1, "a"), [1]) }
        try engine.read { outer throws in
            try engine.write { transaction throws in
                try transaction.put(key(1, "a"), [2])
                try transaction.put(key(2, "new space"), [2])
                #expect(try engine.read { try $0.value(key(1, "a")) } == [1])
            }
            #expect(try outer.value(key(1, "a")) == [1])
            #expect(try outer.value(key(2, "new space")) == nil)
            #expect(try outer.count(keys(of: 2)) == 0)
            #expect(try engine.read { try $0.value(key(2, "new space")) } == [2])
        }
    }

    @Test func moreSpacesThanThereMayBeAreRefused() throws {
        try engine.write { transaction throws in
            for space in 0..<UInt32(Environment.maximumSpaces) { try transaction.put(key(space, "a"), []) }
        }
        let error = expectError(.tooManyTables) { try engine.write { try $0.put(key(1 << 20, "a"), []) } }
        #expect(error?.message.contains("4095") == true)
        #expect(try engine.read { try $0.value(key(4095, "a")) } == [])
        try engine.write { try $0.put(key(4095, "b"), []) }
    }
}
