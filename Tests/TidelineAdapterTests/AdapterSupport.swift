import Foundation
import Testing
import TidelineConformance
import TidelineStore
import TidelineTestStores

/// Returns the sorted names in a folder.
func fileNames(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
}

/// Writes a text to a file.
func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

/// Expects that destroying stores where there are none does nothing, in an empty folder.
func expectNoDestruction(in folder: String, _ destroy: (String) throws -> Void) throws {
    try write("mine", to: "\(folder)/file")
    try FileManager.default.createDirectory(atPath: "\(folder)/empty", withIntermediateDirectories: false)
    for name in ["none", "none/deeper", "file/below", "empty"] { try destroy("\(folder)/\(name)") }
    #expect(try fileNames(in: folder) == ["empty", "file"])
}

/// Expects that a store on the files of another one, whose table `t` is empty, is busy while that holds the lock.
func expectBusy(_ other: some LocalStore, besides holder: some LocalStore) throws {
    try holder.write { writer throws in
        try writer.upsert(["id": "1"], into: "t")
        let error = expectError(.busy) { try other.write { try $0.upsert(["id": "2"], into: "t") } }
        #expect(error?.engineCode != nil)
        #expect(try other.read { try $0.count(TableQuery("t")) } == 0)
    }
    try other.write { try $0.upsert(["id": "2"], into: "t") }
    #expect(try holder.read { try $0.count(TableQuery("t")) } == 2)
    try other.close()
    try holder.close()
}

/// Returns a store after storing 300 rows in a table `t` with an index.
func filled<Store: LocalStore>(_ store: Store) throws -> Store {
    try store.define([TableSchema("t", columns: [.string("s")], indexes: [["s"]])])
    try store.write { writer throws in
        try writer.upsert((0..<300).map { ["id": .string("\($0)"), "s": "some text"] as Row }, into: "t")
    }
    return store
}

/// The layer that makes file calls fail, if this build has it.
let faults = StoreKind.simplest.harness.faults

/// Makes file calls fail with an error number of the system.
struct FailingFiles: FileObserver {
    let error: Int32
    /// Whether a call fails.
    let isAffected: @Sendable (FileOperation) -> Bool

    func decide(_ operation: FileOperation) -> FileDecision { isAffected(operation) ? .fail(error) : .perform }

    func performed(_ operation: FileOperation) {}

    /// Rejects every change by this process, as a read-only file system or missing permissions do.
    static func unwritable(_ error: Int32) -> FailingFiles {
        FailingFiles(error: error) { operation in
            switch operation.kind {
            case .read, .sync, .syncDirectory: false
            case .open: operation.isForWriting
            default: true
            }
        }
    }
}
