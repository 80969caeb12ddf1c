import Foundation
import Testing
import TidelineStore
import TidelineTestStores

private let smallDisk = ProcessInfo.processInfo.environment["TIDELINE_TEST_SMALL_DISK"]

/// Tests on a real full file system. They need a file system of a few megabytes, named by `TIDELINE_TEST_SMALL_DISK`:
/// `mount -t tmpfs -o size=16m tmpfs <folder>`.
@Suite(.serialized, .enabled(if: smallDisk != nil)) struct FullDiskTests {
    private static let table = TableSchema("t", columns: [.bytes("x")])
    private static let big = (0..<64).map {
        ["id": .string("big\($0)"), "x": .bytes(Array(repeating: UInt8($0), count: 65_536))] as Row
    }

    @Test(arguments: StoreKind.persistent)
    func aFullDiskRollsBackAndTheStoreWorksAfterRoomIsMade(_ subject: StoreKind) throws {
        let folder = "\(try #require(smallDisk))/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try subject.open(folder)
        try store.define([Self.table])
        try store.write { try $0.upsert(["id": "small", "x": .bytes([1])], into: "t") }
        let ballast = try fill(folder)
        for _ in 0..<2 {
            expectError(.full) { try store.write { try $0.upsert(Self.big, into: "t") } }
            #expect(try store.read { try $0.rows(matching: TableQuery("t")).rows.map(\.id) } == ["small"])
        }
        try FileManager.default.removeItem(atPath: ballast)
        try store.write { try $0.upsert(Array(Self.big.prefix(4)), into: "t") }
        #expect(try store.read { try $0.count(TableQuery("t")) } == 5)
        try store.close()
        let again = try subject.open(folder)
        #expect(
            try again.read { try $0.rows(matching: TableQuery("t")).rows.dropLast() }.map { $0["x"] }
                == Self.big.prefix(4).map { $0["x"] })
        try again.close()
    }

    /// Writes a file until the disk is full.
    private func fill(_ folder: String) throws -> String {
        let path = "\(folder)/ballast"
        try #require(FileManager.default.createFile(atPath: path, contents: nil))
        let handle = try #require(FileHandle(forWritingAtPath: path))
        defer { try? handle.close() }
        do {
            while true { try handle.write(contentsOf: Data(count: 4096)) }
        } catch {
            return path
        }
    }
}
