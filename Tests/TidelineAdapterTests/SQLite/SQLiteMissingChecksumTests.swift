import Foundation
import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests stores of an earlier version, which could write pages without their checksums before its first checkpoint.
@Suite struct SQLiteMissingChecksumTests {
    private static let pageSize = 4_096
    private static let kind = StoreKind.sqliteWithChecksums

    /// Returns the content of a store of the earlier version.
    private static func makeFile() throws -> Data { try Data(contentsOf: fixture("sqlite-checksums/format-2/store")) }

    /// Removes the checksums of pages, which are in their last eight bytes.
    private static func removeChecksums(of pages: some Sequence<Int>, in file: inout Data) {
        for page in pages { file.resetBytes(in: (page * pageSize - 8)..<(page * pageSize)) }
    }

    private static func rows(_ path: String) throws -> [[Row]] {
        let store = try SQLiteStore(path: path)
        defer { try? store.close() }
        let rows = try store.tables().map { table in
            try store.read { try $0.rows(matching: TableQuery(table.name)).rows }
        }
        try store.verify()
        return rows
    }

    /// Expects that a store in which a page but the first has no checksum is corrupt.
    private static func expectCorruptWithoutAnyChecksum(_ path: String) throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in 2...(whole.count / pageSize) {
            var damaged = whole
            removeChecksums(of: [page], in: &damaged)
            try damaged.write(to: URL(fileURLWithPath: path))
            expectError(.corrupt) { _ = try rows(path) }
        }
    }

    @Test("Missing checksums are added when the store is opened", arguments: [2..<5, 4..<7, 3..<16, 2..<16])
    func added(_ pages: Range<Int>) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store"
        var file = try Self.makeFile()
        try file.write(to: URL(fileURLWithPath: path))
        let right = try Self.rows(path)
        #expect(!right.joined().isEmpty)
        file = try Self.makeFile()
        Self.removeChecksums(of: pages, in: &file)
        try file.write(to: URL(fileURLWithPath: path))
        #expect(try Self.rows(path) == right)
        #expect(try Self.rows(path) == right)
        // From then on, a missing checksum is damage.
        try Self.expectCorruptWithoutAnyChecksum(path)
    }

    @Test("A damaged store stays corrupt: nothing is added beside a wrong checksum or to an inconsistent page")
    func damaged() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store"
        for isWrong in [true, false] {
            var file = try Self.makeFile()
            Self.removeChecksums(of: 2..<16, in: &file)
            let damaged =
                isWrong ? (9 * Self.pageSize - 3)..<(9 * Self.pageSize) : Self.pageSize..<(Self.pageSize + 600)
            file.replaceSubrange(damaged, with: [UInt8](repeating: 3, count: damaged.count))
            try file.write(to: URL(fileURLWithPath: path))
            expectError(.corrupt) { _ = try Self.rows(path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path))[Self.pageSize...] == file[Self.pageSize...])
        }
    }

    @Test("A page without a checksum in a new store is corrupt, also one that is read while the store is opened")
    func newStore() throws {
        let files = try StoreFiles(Self.kind)
        let store = try files.open()
        try store.define([GrowingTable.schema])
        try store.write { try GrowingTable.add(0, length: 10, to: $0) }
        try store.close()
        try Self.expectCorruptWithoutAnyChecksum(Self.kind.path(in: files.path))
    }
}

/// Returns the location of a file or folder of an earlier version.
private func fixture(_ name: String) -> URL {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures/\(name)")
}

/// Copies the files in a folder of an earlier version.
func copyFixture(_ name: String, to folder: String) throws {
    for file in try FileManager.default.contentsOfDirectory(atPath: fixture(name).path) {
        try FileManager.default.copyItem(atPath: fixture("\(name)/\(file)").path, toPath: "\(folder)/\(file)")
    }
}
