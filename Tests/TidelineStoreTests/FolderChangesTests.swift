import Foundation
import Testing
import TidelineTestSupport

@testable import TidelineStore

/// Tests how a store recognizes that no file of its folder was removed.
@Suite struct FolderChangesTests {
    enum Change: CaseIterable {
        case create, remove, rename, replace, removeFolder, replaceFolder

        func apply(to folder: String) throws {
            let files = FileManager.default
            switch self {
            case .create: try Data().write(to: URL(fileURLWithPath: "\(folder)/new"))
            case .remove: try files.removeItem(atPath: "\(folder)/file")
            case .rename: try files.moveItem(atPath: "\(folder)/file", toPath: "\(folder)/renamed")
            case .replace: try Data().write(to: URL(fileURLWithPath: "\(folder)/file"), options: .atomic)
            case .removeFolder: try files.removeItem(atPath: folder)
            case .replaceFolder:
                try files.moveItem(atPath: folder, toPath: "\(folder)-moved")
                try files.copyItem(atPath: "\(folder)-moved", toPath: folder)
            }
        }
    }

    @Test("Files are checked after each change of the folder, and if it just changed", arguments: Change.allCases)
    func check(_ change: Change) throws {
        try withTemporaryFolder { root in
            let folder = "\(root)/folder"
            let files = FileManager.default
            try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try Data().write(to: URL(fileURLWithPath: "\(folder)/file"))
            var changes = FolderChanges(folder)
            var count = 0
            func time(_ path: String) throws -> Date? {
                try files.attributesOfItem(atPath: path)[.modificationDate] as? Date
            }
            // A busy machine may take longer than a folder counts as just changed.
            func justAfterChange() throws -> Int64 {
                guard files.fileExists(atPath: folder), let time = try time(folder) else { return 0 }
                return Int64(time.timeIntervalSince1970 * 1e9) + 10_000_000
            }
            for expected in 1...2 {
                try changes.recheck(now: try justAfterChange()) { count += 1 }
                #expect(count == expected)
            }
            for _ in 0..<2 {
                #expect(throws: StoreError.self) {
                    try changes.recheck(now: .max) { () throws(StoreError) in throw StoreError(.io, "") }
                }
            }
            for _ in 0..<3 { try changes.recheck(now: .max) { count += 1 } }
            #expect(count == 3)
            try waitUntil("the next time that the file system records") {
                try Data().write(to: URL(fileURLWithPath: "\(root)/file"), options: .atomic)
                let (last, current) = (try #require(try time(folder)), try #require(try time(root)))
                return last < current
            }
            try change.apply(to: folder)
            for expected in 4...5 {
                try changes.recheck(now: try justAfterChange()) { count += 1 }
                #expect(count == expected)
            }
        }
    }
}
