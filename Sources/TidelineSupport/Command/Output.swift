#if Commands
internal import ArgumentParser
internal import Foundation

/// The destination of a report: a file or standard output.
package struct Output: Sendable {
    /// Standard output.
    package static let standard = Output()

    /// The path, or `nil` for standard output.
    package let path: String?

    private init() { path = nil }

    /// Creates an output for a path, where `-` is standard output.
    /// - Throws: `ValidationError` if the path cannot be written, so that a long run does not start in vain.
    package init(path: String, option: String) throws {
        guard path != "-" else {
            self.path = nil
            return
        }
        self.path = path
        let isNew = access(path, F_OK) != 0
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else {
            let reason = String(cString: strerror(errno))
            throw ValidationError("\(option): \(path.debugDescription) cannot be written: \(reason).")
        }
        close(file)
        // A run that is canceled leaves no empty file.
        if isNew { unlink(path) }
    }

    /// Writes the whole text. A regular file is replaced atomically, or left unchanged if writing fails.
    package func write(_ text: String) throws {
        guard let path else { return FileHandle.standardOutput.write(Data(text.utf8)) }
        let isFile =
            (try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType) ?? .typeRegular
        try Data(text.utf8).write(
            to: URL(fileURLWithPath: path), options: isFile == .typeRegular ? .atomic : [])
    }
}
#endif
