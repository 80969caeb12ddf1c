#if Serve
internal import ArgumentParser
internal import Foundation
internal import HTTPTypes
internal import Logging
internal import Tideline
internal import TidelineStore
internal import TidelineSupport

/// `tideline todo sync`: pushes, and then pulls incrementally.
struct SyncCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Send local changes to the server, then fetch the server's.",
        discussion: """
            Prints conflicts with both versions and keeps them in the queue; resolve them with the command resolve. \
            Other items are synced regardless. Exit status 1 if changes remain in the queue. Ctrl-C cancels the \
            requests in flight: what was not answered stays in the queue, the next sync finds out whether the server has \
            applied it, and the exit status is 130.

            With --watch, syncs until Ctrl-C: sends changes as soon as they are made, also those of other commands, fetches \
            the server's when it signals them and at each interval, and tries again while the server cannot be reached. The status is one line on a \
            terminal, and elsewhere one line for each change of it. Ctrl-C also cancels the requests in flight, and the \
            exit status is 0, even if changes remain in the queue, whose number is printed.

            With a server that requires a sign-in, the token is that of --token-file or of the environment variable \
            \(tokenVariable).

            A store belongs to the server of its first sync; --switch-server moves it to another address.
            """
    )

    static let urlVariable = "TIDELINE_URL"
    static let tokenVariable = "TIDELINE_TOKEN"
    static let defaultURL = "http://127.0.0.1:8080"

    @OptionGroup var options: TodoOptions

    @Option(
        name: .customLong("url"),
        help: ArgumentHelp(
            "The URL of the server.",
            discussion: "The default is the environment variable \(urlVariable), or \(defaultURL)."))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "The dialect of the server: \(DialectOption.names).", discussion: "The default is zumo2.",
            valueName: "name"),
        transform: DialectOption.client)
    var dialect = ServerDialect.zumo2

    @Option(
        help: ArgumentHelp(
            "The file with the token of the signed-in user, which is sent to the server.",
            discussion: "It is read again for each request. The default is the environment variable \(tokenVariable).",
            valueName: "file"))
    var tokenFile: String?

    @Option(help: "The number of rows per request, 1 to 1000.")
    var pageSize = 1000

    @Option(help: "The maximum duration of one request, in seconds.")
    var timeout: Double = 30

    @Flag(help: "Print the counts as JSON. If the sync fails, the JSON includes the error and the remaining changes.")
    var json = false

    @Flag(help: "Keep syncing until Ctrl-C, and show the status.")
    var watch = false

    @Option(help: "With --watch: the time between two requests for changes on the server, in seconds.")
    var interval: Double = 5

    @Flag(
        help:
            "Move the list to this server. Pending changes are kept and sent to it; other items are fetched from it."
    )
    var switchServer = false

    @Option(help: "The least severe messages to log to standard error.")
    var logLevel = LogLevel.warning

    var url: String { server ?? ProcessInfo.processInfo.environment[Self.urlVariable] ?? Self.defaultURL }

    var syncOptions: SyncOptions {
        var options = SyncOptions()
        options.dialect = dialect
        options.timeout = .seconds(timeout)
        if tokenFile != nil || ProcessInfo.processInfo.environment[Self.tokenVariable] != nil {
            options.authorization = { [tokenFile] _ in try Self.authorization(tokenFile: tokenFile) }
        }
        options.logger = Logger(label: "tideline.todo") { StreamLogHandler.standardError(label: $0) }
        options.logger.logLevel = logLevel.level
        return options
    }

    /// Returns the header with the token, or `nil` if there is none.
    private static func authorization(tokenFile: String?) throws -> HTTPField? {
        let content = try tokenFile.map {
            String(decoding: try InputFile.read($0, maximumSize: 64 << 10), as: UTF8.self)
        }
        let token = (content ?? ProcessInfo.processInfo.environment[tokenVariable] ?? "")
            .trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else {
            if let tokenFile { throw ToolError("the file \(tokenFile) is empty; it must contain a token") }
            return nil
        }
        guard HTTPField.isValidValue(token) else {
            throw ToolError("\(tokenFile.map { "the file \($0)" } ?? tokenVariable) must contain one token on one line")
        }
        return HTTPField(name: .authorization, value: "Bearer \(token)")
    }

    func validate() throws {
        guard (1...1000).contains(pageSize) else {
            throw ValidationError("--page-size must be from 1 to 1000, not \(pageSize).")
        }
        guard !(watch && json) else { throw ValidationError("specify --watch or --json, not both.") }
        guard interval >= 0.1, interval <= 86_400 else {
            throw ValidationError("--interval must be from 0.1 to 86400 seconds, not \(interval).")
        }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be more than 0 and at most 86400 seconds, not \(timeout).")
        }
    }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        if switchServer { try await session.client.switchServer(keepingPending: true) }
        if watch { return try await watch(session) }
        let outcome = await SyncRun().outcome(of: session, pageSize: pageSize)
        let report = Report(outcome, pending: try await session.context.pendingOperationsCount)
        if json {
            try JSONOutput.print(report)
        } else if outcome.error == nil {
            let requests = counted(report.requests, "request")
            StandardOutput.line("\(outcome.summary) (\(requests) to pull, \(counted(report.writes ?? 0, "write")))")
        }
        recording {
            guard outcome.isWorthNoting(after: try session.record.read()?.result) else { return }
            try session.record.write(outcome.summary)
        }
        if let error = outcome.error { throw failure(error, report, wasInterrupted: outcome.wasInterrupted) }
    }

    /// Records a sync. A failure is printed, and does not replace the result of the sync.
    private func recording(_ body: () throws -> Void) {
        do { try body() } catch { Output.note("Warning: the sync could not be recorded: \(error)") }
    }

    private func watch(_ session: TodoSession<some LocalStore>) async throws {
        do {
            let watch = SyncWatch(interval: .seconds(interval), pageSize: pageSize, store: options.store)
            let last = try await watch.run(session)
            if let (text, _) = StatusLine.text(of: last, store: options.store, isBrief: true) {
                recording { try session.record.write("watched: \(text)") }
            }
            let pending = try await session.context.pendingOperationsCount
            if pending > 0 { Output.note("\(counted(pending, "change")) in the queue for the next sync") }
        } catch let error as SyncError {
            throw failure(error, Report(SyncOutcome(), pending: 0), wasInterrupted: false)
        }
    }

    private func failure(_ error: SyncError, _ report: Report, wasInterrupted: Bool) -> any Error {
        if wasInterrupted {
            Output.note(
                "interrupted: \(counted(report.pushed, "change")) sent, \(report.pending) in the queue for the next sync"
            )
            return ExitCode(Interruption.status)
        }
        if error.code == .otherServer {
            return ToolError(
                "\(error.message.prefix { $0 != ";" }); use --switch-server to move the list and its queue to it"
            )
        }
        guard !error.operationErrors.isEmpty else { return ToolError(error.description) }
        let items = error.operationErrors.map { ConflictText.describe($0, store: options.store) }
            .joined(separator: "\n")
        let abort = error.code == .completedWithErrors ? "" : "\(error.message)\n"
        return ToolError(
            "\(abort)not synced and kept in the queue: \(counted(error.operationErrors.count, "change"))\n\(items)")
    }
}

extension SyncCommand {
    /// The output of `--json`.
    struct Report: Codable {
        /// The number of changes that the server has applied.
        var pushed: Int
        var pulled: Int
        var requests: Int
        /// The number of rows stored, or `nil` if the sync failed.
        var stored: Int?
        var removed: Int?
        var writes: Int?
        /// The number of changes in the queue.
        var pending: Int
        /// The reason for the failure, or `nil` if the sync succeeded.
        var error: Failure?
        /// The changes that were not synced.
        var errors: [StatusCommand.Report.Failure]

        struct Failure: Codable {
            var code: String
            var message: String
        }

        init(_ outcome: SyncOutcome, pending: Int) {
            pushed = outcome.pushed
            pulled = outcome.result?.rowsPulled ?? outcome.pulled?.rowsPulled ?? 0
            requests = outcome.result?.requests ?? outcome.pulled?.pages ?? 0
            (stored, removed) = (outcome.result?.rowsStored, outcome.result?.rowsRemoved)
            writes = outcome.result?.writes
            self.pending = pending
            error = outcome.error.map { Failure(code: $0.code.rawValue, message: $0.message) }
            errors = (outcome.error?.operationErrors ?? []).map { .init($0) }
        }
    }
}
#endif
