internal import Foundation

/// The commit that this executable was built from, as far as it can be known.
///
/// Nothing of it is compiled in, as an incremental build would keep an old one. So it is what `TIDELINE_COMMIT` says, or, for
/// an executable that lies in the repository it was built in, what is checked out there, unless a source there is newer than
/// the executable.
enum SourceCommit {
    /// The commit; nil when not known.
    static var current: String? {
        if let named = ProcessInfo.processInfo.environment["TIDELINE_COMMIT"], !named.isEmpty { return named }
        guard let executable = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
        return commit(builtInto: executable)
    }

    static func commit(builtInto executable: URL) -> String? {
        guard let root = repository(around: executable), let date = modified(executable),
            let commit = git(["rev-parse", "--short=12", "HEAD"], in: root), !commit.isEmpty,
            let files = git(["ls-files", "-z", "--", "*.swift", "*.c", "*.cpp", "*.h"], in: root)
        else { return nil }
        let sources = files.split(separator: "\0").filter { !$0.hasPrefix("Tests/") && !$0.hasPrefix("docs/") }
        let isNewer = sources.contains { modified(root.appendingPathComponent(String($0))).map { $0 > date } ?? true }
        guard !isNewer, let changes = git(["status", "--porcelain", "--untracked-files=no"], in: root) else {
            return nil
        }
        return commit + (changes.isEmpty ? "" : "+")
    }

    private static func repository(around executable: URL) -> URL? {
        var folder = executable.deletingLastPathComponent()
        while folder.path != "/", folder.path != "" {
            if FileManager.default.fileExists(atPath: folder.appendingPathComponent(".git").path) { return folder }
            folder = folder.deletingLastPathComponent()
        }
        return nil
    }

    private static func modified(_ file: URL) -> Date? {
        try? FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
    }

    /// What git says; nil when there is none, or it fails.
    private static func git(_ arguments: [String], in folder: URL) -> String? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "-C", folder.path] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
