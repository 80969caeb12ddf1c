#if Commands
package import ArgumentParser
internal import Foundation

/// The options that the commands with reports share.
package struct ReportOptions: ParsableArguments, Sendable {
    @Flag(help: "List what --filter selects, with ids, instead of running it.")
    package var list = false

    @Option(help: ArgumentHelp("Write the report as JSON; - is standard output.", valueName: "path"))
    package var json: String?

    @Option(help: ArgumentHelp("Write the report as Markdown; with --list, the list.", valueName: "path"))
    package var markdown: String?

    @Option(help: ArgumentHelp("Write the report as one HTML page.", valueName: "path"))
    package var html: String?

    @Flag(name: .shortAndLong, help: "Show no progress and no details, only failures and results.")
    package var quiet = false

    /// Creates options for the parser.
    package init() {}

    /// Checks that no report is requested that a list, which can be Markdown, or an explanation would not write.
    package func confirmIsWritten<Report>(_ kinds: [ReportOutputs<Report>.Kind], explains: Bool = false) throws {
        guard list || explains else { return }
        let ignored = kinds.first { $0.path != nil && (explains || $0.option != "--markdown") }
        guard let option = ignored?.option else { return }
        throw ValidationError(
            "\(option) writes the report of a run; remove it or \(explains ? "--explain" : "--list").")
    }

    /// Writes the list that `--list` requests to standard output, or as Markdown to a file.
    package func writeList(_ text: @autoclosure () -> String, markdown markdownText: @autoclosure () -> String) throws {
        guard let markdown else { return try Output.standard.write(text()) }
        try Output(path: markdown, option: "--markdown").write(markdownText())
    }
}

/// The exit statuses of the commands with reports.
package enum ExitStatus {
    /// The exit status for an invalid command line, and for a report that cannot be written.
    package static let usage: Int32 = 2

    /// Exits after an error of a command or of parsing, with status ``usage`` for a usage error.
    package static func exit(_ command: any ParsableCommand.Type, after error: any Error) -> Never {
        guard command.exitCode(for: error) == .validationFailure else { command.exit(withError: error) }
        Output.note(command.fullMessage(for: error))
        Foundation.exit(usage)
    }
}
#endif
