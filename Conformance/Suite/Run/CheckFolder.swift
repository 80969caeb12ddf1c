internal import Foundation
internal import TidelineSupport

/// An empty directory for one trial.
package struct CheckFolder: Sendable {
    /// The path, without symbolic links, as in recorded file calls.
    package let path: String

    package init() throws {
        self = Self.planned()
        try make()
    }

    private init(path: String) { self.path = path }

    /// Returns a directory with a new name that has not been created yet.
    package static func planned() -> CheckFolder {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        return CheckFolder(path: base.appendingPathComponent("\(prefix)\(UUID().uuidString)").path)
    }

    /// Creates the directory.
    package func make() throws { try Self.make(path) }

    /// Creates a directory if it does not exist.
    static func make(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw HarnessError("the directory \(path) cannot be created: \(error.reason)")
        }
    }

    /// Creates a value for a directory name that ``planned()`` returned; `nil` for any other name.
    package init?(named path: String) {
        guard URL(fileURLWithPath: path).lastPathComponent.hasPrefix(Self.prefix) else { return nil }
        self.path = path
    }

    private static let prefix = "tideline-conformance-"

    /// Removes the directory and its contents, whatever their permissions.
    package func remove() {
        let manager = FileManager.default
        if (try? manager.removeItem(atPath: path)) != nil { return }
        let inner = manager.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for name in [""] + inner {
            try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(path)/\(name)")
        }
        try? manager.removeItem(atPath: path)
    }
}
