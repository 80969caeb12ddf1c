#if Commands
internal import Foundation

/// The destination of progress and summary: standard output, or standard error if a report uses standard output.
package struct Terminal: Sendable {
    private let descriptor: Int32
    /// Whether the destination is an interactive terminal, on which a line can be overwritten.
    package let isInteractive: Bool
    /// The style of the text, colored if the terminal is interactive and `NO_COLOR` is not set.
    package let style: TerminalStyle

    /// Creates a terminal for standard output or standard error.
    package init(usesStandardError: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
        descriptor = usesStandardError ? STDERR_FILENO : STDOUT_FILENO
        let isDumb = environment["TERM"] == "dumb"
        isInteractive = isatty(descriptor) == 1 && !isDumb
        let noColor = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        style = TerminalStyle(isColored: isInteractive && !noColor)
    }

    /// Writes a text at once. ``Output/printingError`` is the error of standard output; that of standard error is
    /// ignored.
    package func write(_ text: String) {
        if descriptor == STDOUT_FILENO { return Output.print(text) }
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// The number of characters in a line.
    package var columns: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
#endif
