internal import Foundation

/// A new folder, which is removed with its last reference, at the latest when the process exits.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let path: String

    /// Makes the folder.
    public init() throws {
        path = "\(FoldersOfProcess.path)/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// The folder that holds those of this process: a test whose objects hold each other never lets go of its own.
private enum FoldersOfProcess {
    static let path: String = {
        atexit { try? FileManager.default.removeItem(atPath: FoldersOfProcess.path) }
        return FileManager.default.temporaryDirectory.appendingPathComponent("tideline-\(UUID().uuidString)").path
    }()
}

/// Calls `body` with the path of a new folder, which is removed afterwards.
public func withTemporaryFolder<T>(_ body: (String) throws -> T) throws -> T {
    let folder = try TemporaryFolder()
    return try withExtendedLifetime(folder) { try body(folder.path) }
}
