internal import Foundation

/// A new folder that is removed with its last reference, or at the latest when the process exits.
public final class TemporaryFolder: Sendable {
    /// The path of the folder.
    public let path: String

    /// Creates the folder.
    public init() throws {
        path = "\(FoldersOfProcess.path)/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The parent of all temporary folders of this process. It is removed at exit, because a reference cycle in a test can
/// keep a folder alive.
private enum FoldersOfProcess {
    static let path: String = {
        atexit { try? FileManager.default.removeItem(atPath: FoldersOfProcess.path) }
        return FileManager.default.temporaryDirectory.appendingPathComponent("tideline-\(UUID().uuidString)").path
    }()
}

/// Calls `body` with the path of a new folder, and removes the folder afterwards.
public func withTemporaryFolder<T>(_ body: (String) throws -> T) throws -> T {
    let folder = try TemporaryFolder()
    return try withExtendedLifetime(folder) { try body(folder.path) }
}

/// Returns the name of the database schema that stands for a folder in which stores of other kinds keep their files.
public func schemaName(ofFolder path: String) -> String {
    let path = URL(fileURLWithPath: path).standardizedFileURL.path
    let hash = path.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return "s\(hash)"
}
