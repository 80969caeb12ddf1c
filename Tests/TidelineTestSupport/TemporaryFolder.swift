internal import Foundation

/// A new folder, which is removed with its last reference.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let path: String

    /// Makes the folder.
    public init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("tideline-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Calls `body` with the path of a new folder, which is removed afterwards.
public func withTemporaryFolder<T>(_ body: (String) throws -> T) throws -> T {
    let folder = try TemporaryFolder()
    return try withExtendedLifetime(folder) { try body(folder.path) }
}
