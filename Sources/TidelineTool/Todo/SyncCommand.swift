internal import ArgumentParser
internal import Foundation
internal import Logging
internal import Tideline
internal import TidelineStore
internal import TidelineSupport

/// `tideline todo sync`: push, then incremental pull.
struct SyncCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Send local changes to the server, then bring the server's.",
        discussion: """
            Conflicts are printed with both versions, kept in the queue, and settled with resolve; the other items are \
            synced all the same. Exit status 1 when anything is left over.
            """
    )

    static let urlVariable = "TIDELINE_URL"
    static let defaultURL = "http://127.0.0.1:8080"

    @OptionGroup var options: TodoOptions

    @Option(
        name: .customLong("url"),
        help: ArgumentHelp(
            "The server.", discussion: "Without it, the environment's \(urlVariable), or else \(defaultURL)."))
    var server: String?

    @Option(help: "How many rows to ask for at once, 1 to 1000.")
    var pageSize = 1000

    @Option(help: "How many seconds one request may take.")
    var timeout: Double = 30

    @Flag(help: "Print the counts as JSON.")
    var json = false

    @Option(help: "What is logged to standard error.")
    var logLevel = LogLevel.warning

    var url: String? { server ?? ProcessInfo.processInfo.environment[Self.urlVariable] ?? Self.defaultURL }

    var syncOptions: SyncOptions {
        var options = SyncOptions()
        options.timeout = .seconds(timeout)
        options.logger = Logger(label: "tideline.todo") { StreamLogHandler.standardError(label: $0) }
        options.logger.logLevel = logLevel.level
        return options
    }

    func validate() throws {
        guard (1...1000).contains(pageSize) else {
            throw ValidationError("the page size is from 1 to 1000, not \(pageSize).")
        }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("the time-out is more than 0 and at most 86400 seconds, not \(timeout).")
        }
    }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        let progress = ProgressLine()
        var settings = PullSettings(pageSize: pageSize, whenPushFails: .pullOthers)
        settings.onProgress = {
            progress.show("pulled \(counted($0.rowsPulled, "row")) in \(counted($0.pages, "request"))")
        }
        let pending = try await session.context.pendingOperationsCount
        progress.show("pushing \(counted(pending, "change"))")
        do {
            // A pull pushes first, and with no operations pending there is nothing to push.
            let result = try await session.items.pull(queryID: "todo", settings: settings)
            progress.clear()
            try await report(result, pushed: pending, session)
        } catch let error as SyncError {
            progress.clear()
            try session.record.write("failed: \(error.message)")
            throw failure(error)
        }
    }

    /// What `--json` prints.
    struct Report: Codable {
        var pushed: Int
        var pulled: Int
        var stored: Int
        var removed: Int
        var requests: Int
        var writes: Int
    }

    private func report(_ result: PullResult, pushed: Int, _ session: TodoSession<some LocalStore>) async throws {
        // A sync that changed nothing writes nothing, not even that it took place.
        let changed = pushed > 0 || result.writes > 0
        let summary = "pushed \(pushed), stored \(result.rowsStored), removed \(result.rowsRemoved)"
        if changed { try session.record.write(summary) }
        if json {
            return try JSONOutput.print(
                Report(
                    pushed: pushed, pulled: result.rowsPulled, stored: result.rowsStored,
                    removed: result.rowsRemoved, requests: result.requests, writes: result.writes))
        }
        StandardOutput.line(
            "\(summary) ("
                + "\(counted(result.requests, "request")) to pull, \(counted(result.writes, "write")))")
    }

    private func failure(_ error: SyncError) -> any Error {
        guard !error.operationErrors.isEmpty else { return ToolError(error.description) }
        let items = error.operationErrors.map { ConflictText.describe($0) }.joined(separator: "\n")
        let abort = error.code == .completedWithErrors ? "" : "\(error.message)\n"
        return ToolError(
            "\(abort)not synced, and kept in the queue: \(counted(error.operationErrors.count, "change"))\n\(items)")
    }
}
