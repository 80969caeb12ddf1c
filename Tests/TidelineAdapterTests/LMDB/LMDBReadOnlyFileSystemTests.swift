import Foundation
import Testing
import TidelineConformance
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineLMDB

/// Tests reads of a store on a read-only file system, to which other processes can write.
@Suite(.enabled(if: faults?.isAvailable == true)) struct LMDBReadOnlyFileSystemTests {
    private let kind = StoreKind.lmdb
    private let files: StoreFiles
    private var path: String { kind.path(in: files.path) }

    init() throws {
        files = try StoreFiles(kind)
        let store = try files.open()
        try store.define([GrowingTable.schema])
        try store.close()
    }

    private static let readOnly = LMDBOptions(isReadOnly: true)

    @Test("A read during which another process commits once sees its snapshot, and one with more commits is busy")
    func commitsDuringRead() throws {
        try write(1)
        try #require(faults).observing(files.path, by: FailingFiles.unwritable(EROFS)) {
            let engine = try LMDBEngine(path: path, options: Self.readOnly)
            #expect(engine.environment.isUnlocked)
            try engine.read { snapshot in
                try write(1)
                #expect(try snapshot.count(keys(of: 100)) == 1)
            }
            for count in [2, 3, 20] {
                let error = expectError(.busy) { try engine.read { _ in try write(count) } }
                #expect(error?.path == path)
                expectError(.busy) {
                    try engine.read { snapshot in
                        try write(count)
                        _ = try snapshot.value(key(100, "k0"))
                    }
                }
                expectError(.busy) {
                    try engine.read { snapshot in
                        try write(count)
                        _ = try snapshot.count(keys(of: 100))
                    }
                }
            }
            #expect(try engine.count(100) == 20)
            try engine.close()
        }
        #expect(try withEngine(path, Self.readOnly) { !$0.environment.isUnlocked })
    }

    /// Commits transactions in another process.
    private func write(_ count: Int) throws {
        let (done, isWell) = try OtherProcess("write", path, "k", "\(count)").finish()
        try #require(done == count && isWell)
    }

    @Test("Beside a process that commits all the time, each read sees one snapshot or is busy")
    func readsBesideWriter() throws {
        try #require(faults).observing(files.path, by: FailingFiles.unwritable(EROFS)) {
            let store = try LMDBStore(path: path, options: Self.readOnly)
            let query = TableQuery(GrowingTable.schema.name, includesTotalCount: true)
            let process = try EditingProcess(kind, files.path)
            try process.start("grow 0 60")
            var found = 0
            for number in 0..<60 {
                try process.expect("grown \(number)")
                do {
                    let page = try store.read { try $0.rows(matching: query) }
                    #expect(page.rows.count == page.totalCount && page.rows.count >= found)
                    #expect(page.rows.count.isMultiple(of: GrowingTable.rowsPerCommit))
                    found = page.rows.count
                } catch let error as StoreError where error.code == .busy { continue }
            }
            try process.expect("done")
            try process.finish()
            #expect(try store.read { try $0.count(query) } == 60 * GrowingTable.rowsPerCommit)
            try store.close()
        }
    }
}
