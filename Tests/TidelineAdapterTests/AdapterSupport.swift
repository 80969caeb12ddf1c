import Foundation
import Synchronization
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

/// Calls a closure once, after a file call.
final class FileInterruption: FileObserver {
    private let isExpected: @Sendable (FileOperation) -> Bool
    private let body: Mutex<(@Sendable () -> Void)?>

    /// Calls `body` after the first call for which `isExpected` returns `true`.
    init(after isExpected: @escaping @Sendable (FileOperation) -> Bool, body: @escaping @Sendable () -> Void) {
        self.isExpected = isExpected
        self.body = Mutex(body)
    }

    /// Whether the closure was called.
    var hasHappened: Bool { body.withLock { $0 == nil } }

    func decide(_ operation: FileOperation) -> FileDecision { .perform }

    func performed(_ operation: FileOperation) {
        guard isExpected(operation) else { return }
        let body = body.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }
}

/// Expects that a store which replaces another one, after that was opened to be destroyed and before it is locked, is
/// not destroyed.
///
/// - Parameters:
///   - path: The path of the store to destroy.
///   - isOpening: Whether a call opens that store.
func expectReplacementKept(
    at path: String, after isOpening: @escaping @Sendable (FileOperation) -> Bool, _ code: StoreError.Code,
    _ open: (String) throws -> any LocalStore, _ destroy: (String) throws -> Void
) throws {
    let folder = (path as NSString).deletingLastPathComponent
    for name in [path, "\(path).other"] { try filled(AnyStore(open(name))).close() }
    let replacement = FileInterruption(after: isOpening) {
        try? FileManager.default.moveItem(atPath: path, toPath: "\(path).old")
        try? FileManager.default.moveItem(atPath: "\(path).other", toPath: path)
    }
    try #require(faults).observing(folder, by: replacement) { _ = expectError(code) { try destroy(path) } }
    #expect(replacement.hasHappened)
    let store = try open(path)
    #expect(try store.read { try $0.count(TableQuery("t")) } == 300)
    try store.close()
}
