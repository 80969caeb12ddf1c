internal import Foundation
package import TidelineSupport

/// Where progress and summary go: standard output, or standard error where a report takes the output.
package struct Terminal: Sendable {
    private let descriptor: Int32
    /// Whether a person watches, so that a line can be written over.
    package let isInteractive: Bool
    /// With colours for a person who has not asked for none.
    package let style: TerminalStyle

    /// Standard output or standard error.
    package init(usesStandardError: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
        descriptor = usesStandardError ? STDERR_FILENO : STDOUT_FILENO
        let isDumb = environment["TERM"] == "dumb"
        isInteractive = isatty(descriptor) == 1 && !isDumb
        let noColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        style = TerminalStyle(isColored: isInteractive && !noColor)
    }

    /// Writes at once. That nobody reads any more is no failure of the run.
    package func write(_ text: String) {
        let file = descriptor == STDOUT_FILENO ? FileHandle.standardOutput : FileHandle.standardError
        try? file.write(contentsOf: Data(text.utf8))
    }

    /// How many characters a line has.
    package var columns: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
