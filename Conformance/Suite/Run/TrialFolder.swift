internal import Foundation
internal import TidelineSupport

/// An empty folder for one trial.
package struct TrialFolder: Sendable {
    /// Where it is, without symbolic links, as recorded file calls name it.
    package let path: String

    package init() throws {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        path = base.appendingPathComponent("\(Self.prefix)\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw KitError("the folder \(path) cannot be made: \(error.reason)")
        }
    }

    /// A folder that was made by ``init()``; nil for any other.
    package init?(existing path: String) {
        guard URL(fileURLWithPath: path).lastPathComponent.hasPrefix(Self.prefix) else { return nil }
        self.path = path
    }

    private static let prefix = "tideline-conformance-"

    /// Removes it and all in it, whatever their permissions.
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
