internal import Foundation
internal import TidelineSupport

/// An empty folder for one trial.
package struct TrialFolder: Sendable {
    /// Where it is, without symbolic links, as recorded file calls name it.
    package let path: String

    package init() throws {
        self = Self.planned()
        try make()
    }

    private init(path: String) { self.path = path }

    /// A folder with a new name that is still to be made.
    package static func planned() -> TrialFolder {
        let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        return TrialFolder(path: base.appendingPathComponent("\(prefix)\(UUID().uuidString)").path)
    }

    /// Makes the folder.
    package func make() throws {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw KitError("the folder \(path) cannot be made: \(error.reason)")
        }
    }

    /// A folder with a name that ``planned()`` has given; nil for any other.
    package init?(named path: String) {
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
