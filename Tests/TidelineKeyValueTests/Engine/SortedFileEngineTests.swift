import Foundation
import SortedFileStore
import Testing
import TidelineKeyValue
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests the file of the example engine.
@Suite struct SortedFileEngineTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let whole = KeyRange(prefix: [0, 0, 0, 1])

    /// Creates a store with a few commits and closes it.
    /// - Returns: The path of its file.
    private static func makeStore(in folder: String) throws -> URL {
        let engine = try SortedFileEngine(path: folder)
        for number in UInt8(0)..<4 {
            try engine.write { try $0.put([0, 0, 0, 1, number], [UInt8](repeating: number, count: 20)) }
        }
        try engine.close()
        return URL(fileURLWithPath: "\(folder)/entries")
    }

    /// Where the property list begins and the bytes that identify it end.
    private static let identification = 8..<14

    private static func expect(_ code: StoreError.Code, _ folder: String, _ what: String) throws {
        let error = #expect(throws: StoreError.self, "\(what)") { _ = try SortedFileEngine(path: folder) }
        #expect(error?.code == code, "\(what)")
        #expect(error?.path == "\(folder)/entries")
    }

    @Test func aFileThatWasCutOffOrHasAFlippedBitIsCorrupt() throws {
        let file = try Self.makeStore(in: folder.path)
        let content = try Data(contentsOf: file)
        for offset in content.indices {
            try content.prefix(offset).write(to: file)
            let isPrefixNamed = offset >= Self.identification.upperBound
            try Self.expect(isPrefixNamed ? .corrupt : .notAStore, folder.path, "\(offset) bytes")
            var damaged = content
            damaged[offset] ^= 1 << UInt8(offset % 8)
            try damaged.write(to: file)
            let isNamed = !Self.identification.contains(offset)
            try Self.expect(isNamed ? .corrupt : .notAStore, folder.path, "byte \(offset)")
        }
    }

    /// An interrupted commit has written a part of the new file and has not changed the old one.
    @Test func aPartOfANewFileIsPassedOver() throws {
        let file = try Self.makeStore(in: folder.path)
        try Data([1, 2, 3]).write(to: file.appendingPathExtension("new"))
        let engine = try SortedFileEngine(path: folder.path)
        #expect(try engine.read { try $0.entries(in: Self.whole).count } == 4)
        try engine.write { try $0.put([0, 0, 0, 1, 200], []) }
        try engine.close()
        let reopened = try SortedFileEngine(path: folder.path)
        #expect(try reopened.read { try $0.entries(in: Self.whole).count } == 5)
        try reopened.close()
    }
}
