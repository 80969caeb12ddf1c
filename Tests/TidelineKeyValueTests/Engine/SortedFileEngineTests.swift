import Foundation
import SortedFileStore
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestSupport

/// What the engine of an app promises of its file.
@Suite struct SortedFileEngineTests {
    private static let whole = KeyRange(prefix: [0, 0, 0, 1])

    /// Makes a file of commits, each of which stores one key more.
    /// - Returns: Its content, and where each commit ends.
    private static func makeFile(_ path: String, commits: UInt8 = 6) throws -> (content: Data, ends: [Int]) {
        let engine = try SortedFileEngine(path: path)
        var ends = [0]
        for number in 0..<commits {
            try engine.write { writer throws in
                try writer.put([0, 0, 0, 1, number], [UInt8](repeating: number, count: 20))
                try writer.put([0, 0, 0, 1, 0], [number])
            }
            ends.append(try Data(contentsOf: URL(fileURLWithPath: path)).count)
        }
        try engine.close()
        return (try Data(contentsOf: URL(fileURLWithPath: path)), ends)
    }

    /// How many keys the engine finds in a file; nil when it says that the file is damaged.
    private static func keys(_ path: String, _ content: Data) throws -> Int? {
        try content.write(to: URL(fileURLWithPath: path))
        do {
            let engine = try SortedFileEngine(path: path)
            let count = try engine.read { try $0.entries(in: whole).count }
            try engine.write { try $0.put([0, 0, 0, 1, 200], []) }
            try engine.close()
            let reopened = try SortedFileEngine(path: path)
            #expect(try reopened.read { try $0.entries(in: whole).count } == count + 1)
            try reopened.close()
            return count
        } catch let error as StoreError where error.code == .corrupt {
            return nil
        }
    }

    @Test func aRecordThatWasCutOffIsDropped() throws {
        try withTemporaryFolder { folder throws in
            let (content, ends) = try Self.makeFile("\(folder)/log")
            for size in 0...content.count {
                let whole = ends.count { $0 <= size } - 1
                #expect(try Self.keys("\(folder)/log", content.prefix(size)) == whole, "\(size) bytes")
            }
        }
    }

    @Test func aFlippedBitIsCorrupt() throws {
        try withTemporaryFolder { folder throws in
            let (content, _) = try Self.makeFile("\(folder)/log")
            for offset in content.indices {
                var damaged = content
                damaged[offset] ^= 1 << UInt8(offset % 8)
                #expect(try Self.keys("\(folder)/log", damaged) == nil, "byte \(offset)")
            }
        }
    }

    @Test func aFileIsOpenOnce() throws {
        try withTemporaryFolder { folder throws in
            let engine = try SortedFileEngine(path: "\(folder)/log")
            let error = #expect(throws: StoreError.self) { _ = try SortedFileEngine(path: "\(folder)/log") }
            #expect(error?.code == .locked)
            try engine.close()
            try SortedFileEngine(path: "\(folder)/log").close()
        }
    }
}
