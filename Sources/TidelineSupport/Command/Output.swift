#if Commands
internal import ArgumentParser
internal import Foundation
internal import Synchronization

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

    /// Writes the whole text at once. A regular file is replaced atomically, or left unchanged if writing fails.
    ///
    /// It is no error that nothing reads standard output, or that it is closed.
    package func write(_ text: String) throws(OutputError) {
        do {
            guard let path else { return try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
            let isFile =
                (try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType) ?? .typeRegular
            try Data(text.utf8).write(
                to: URL(fileURLWithPath: path), options: isFile == .typeRegular ? .atomic : [])
        } catch {
            // The number of a closed descriptor may have been reused for an event queue, where writing is invalid.
            if path == nil, [.EPIPE, .EBADF, .EINVAL].contains(error.systemCode) { return }
            throw OutputError(place: path ?? "standard output", reason: error.reason)
        }
    }

    // MARK: Printing

    private static let firstError = Mutex<OutputError?>(nil)

    /// The first error of ``print(_:)``, or `nil`.
    package static var printingError: OutputError? { firstError.withLock { $0 } }

    /// Writes a text to standard output. An error does not end the command's work, but its status reports it:
    /// ``printingError``.
    package static func print(_ text: String) {
        do {
            try standard.write(text)
        } catch {
            firstError.withLock { $0 = $0 ?? error }
        }
    }

    /// Writes a line to standard error. Ignores errors, because there is nowhere to report them.
    package static func note(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// The destination of an output cannot be written.
package struct OutputError: Error, CustomStringConvertible {
    let place: String
    let reason: String

    package var description: String { "\(place) cannot be written: \(reason)" }
}
#endif
