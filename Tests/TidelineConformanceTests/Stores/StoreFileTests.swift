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
    enum Change {
        case remove, rename, replace, removeParent
        /// The removal of the only file whose name matches a regular expression, or its replacement by a copy.
        case removeFile(String)
        case replaceFile(String)

        /// Makes the change.
        func apply(to path: String) throws {
            let files = FileManager.default
            let parent = (path as NSString).deletingLastPathComponent
            switch self {
            case .remove: try files.removeItem(atPath: path)
            case .rename: try files.moveItem(atPath: path, toPath: "\(path)-moved")
            case .replace:
                try files.moveItem(atPath: path, toPath: "\(path)-moved")
                try files.copyItem(atPath: "\(path)-moved", toPath: path)
            case .removeParent: try files.removeItem(atPath: parent)
            case .removeFile(let pattern): try files.removeItem(atPath: Self.onlyFile(in: parent, pattern))
            case .replaceFile(let pattern):
                let file = try Self.onlyFile(in: parent, pattern)
                try files.copyItem(atPath: file, toPath: "\(file)-copy")
                try files.removeItem(atPath: file)
                try files.moveItem(atPath: "\(file)-copy", toPath: file)
            }
        }

        private static func onlyFile(in folder: String, _ pattern: String) throws -> String {
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
                .filter { $0.range(of: pattern, options: .regularExpression) != nil }
            try #require(names.count == 1)
            return "\(folder)/\(names[0])"
        }
    }

    /// The files of a store that a commit does without only if nobody removed them.
    private static func files(of kind: StoreKind) -> [String] {
        switch kind.engine {
        case "lmdb": ["data.mdb$", "lock.mdb$"]
        case "leveldb": ["CURRENT$", "LOCK$", "MANIFEST-", "[0-9].log$"]
        default: ["store$", "-wal$", "-shm$"]
        }
    }

    private static let changes: [(StoreKind, Change)] = kinds.flatMap { kind -> [(StoreKind, Change)] in
        let names = files(of: kind)
        var all: [Change] = [.remove, .rename, .replace, .removeParent]
        all += names.map(Change.removeFile)
        // A copy of `CURRENT` is as good.
        all += names.filter { $0 != "CURRENT$" }.map(Change.replaceFile)
        return all.map { (kind, $0) }
    }

    @Test("Nothing is acknowledged into files that are not at the path anymore", arguments: changes)
    func movedFiles(_ kind: StoreKind, _ change: Change) throws {
        let files = try StoreFiles(kind)
        let folder = "\(files.path)/inner"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let store = try kind.open(folder)
        try store.define([Self.table])
        try store.write { try $0.upsert(Self.row, into: "Item") }
        try change.apply(to: kind.path(in: folder))
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

    @Test("A store is refused in a child of the process that opened it", arguments: kinds + [.simplest])
    func fork(_ kind: StoreKind) throws {
        try withTemporaryFolder { folder in
            let process = try EditingProcess(kind, folder)
            try process.edit("define")
            try process.edit("upsert 1 1")
            try process.start("fork")
            for line in ["read closed", "write closed", "close", "done"] { try process.expect(line) }
            try process.edit("upsert 2 1")
            try process.finish()
            guard kind.isPersistent else { return }
            let store = try kind.open(folder)
            #expect(try store.read { try $0.count(TableQuery("Item")) } == 2)
            try store.close()
        }
    }
}
