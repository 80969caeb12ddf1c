import Foundation
import Testing
import TidelineFaults
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineConformance

/// Tests stores whose files are removed, renamed, or replaced, and whose process is forked, while they are open.
@Suite struct StoreFileTests {
    private static let table = TableSchema("Item", columns: [.int("number")], systemColumns: [])
    private static let row: Row = ["id": "1", "number": 1]
    private static let kinds = StoreKind.persistent.filter { $0.engine != "sorted" } + [.sqliteWithChecksums]

    /// A change of the files of an open store.
    enum Change: CaseIterable {
        case remove, rename, replace, removeMainFile, removeLog, removeParent

        /// Makes the change.
        func apply(to path: String, of kind: StoreKind) throws {
            let files = FileManager.default
            switch self {
            case .remove: try files.removeItem(atPath: path)
            case .rename: try files.moveItem(atPath: path, toPath: "\(path)-moved")
            case .replace:
                try files.moveItem(atPath: path, toPath: "\(path)-moved")
                try files.copyItem(atPath: "\(path)-moved", toPath: path)
            case .removeMainFile:
                let main = ["lmdb": "\(path)/data.mdb", "leveldb": "\(path)/CURRENT"][kind.engine ?? ""]
                try files.removeItem(atPath: main ?? path)
            case .removeLog:
                // Only the log of SQLite has a fixed name.
                let isSQLite = kind.engine?.hasPrefix("sqlite") == true
                try files.removeItem(atPath: isSQLite ? "\(path)-wal" : path)
            case .removeParent: try files.removeItem(atPath: (path as NSString).deletingLastPathComponent)
            }
        }
    }

    @Test("Nothing is acknowledged into files that are not at the path anymore", arguments: kinds, Change.allCases)
    func movedFiles(_ kind: StoreKind, _ change: Change) throws {
        let files = try StoreFiles(kind)
        let folder = "\(files.path)/inner"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let store = try kind.open(folder)
        try store.define([Self.table])
        try store.write { try $0.upsert(Self.row, into: "Item") }
        try change.apply(to: kind.path(in: folder), of: kind)
        for _ in 0..<2 {
            let error = expectError(.io) { try store.write { try $0.upsert(["id": "2"], into: "Item") } }
            #expect(error?.message.contains("removed, renamed, or replaced") == true, "\(String(describing: error))")
        }
        try? store.close()
    }

    @Test("A creation that finds no space on the disk leaves nothing", arguments: kinds)
    func failedCreation(_ kind: StoreKind) throws {
        let faults = InterposedFiles()
        guard faults.isAvailable else { return }
        var refusals = 0
        for room in [0, 100, 600, 1_500] + stride(from: 4_000, to: 80_000, by: 4_000) {
            try withTemporaryFolder { folder in
                let disk = SmallDisk(room: room)
                do {
                    try faults.observing(folder, by: disk) { try kind.open(folder).close() }
                } catch let error as StoreError {
                    refusals += 1
                    #expect(error.code == .full, "with \(room) bytes: \(error)")
                    let left = try FileManager.default.contentsOfDirectory(atPath: folder)
                    #expect(left == [], "with \(room) bytes")
                }
                try kind.open(folder).close()
                do {
                    try faults.observing(folder, by: SmallDisk(room: 0)) { try kind.open(folder).close() }
                } catch let error as StoreError {
                    #expect(error.code == .full, "\(error)")
                }
            }
        }
        #expect(refusals > 0)
    }

    @Test("A store is refused in a child of the process that opened it", arguments: kinds)
    func fork(_ kind: StoreKind) throws {
        let files = try StoreFiles(kind)
        let store = try kind.open(files.path)
        try store.define([Self.table])
        try store.close()
        let process = try EditingProcess(kind, files.path)
        try process.edit("upsert 1 1")
        try process.start("fork")
        for line in ["read closed", "write closed", "close", "done"] { try process.expect(line) }
        try process.edit("upsert 2 1")
        try process.finish()
        let again = try kind.open(files.path)
        #expect(try again.read { try $0.count(Query("Item")) } == 2)
        try again.close()
    }
}
