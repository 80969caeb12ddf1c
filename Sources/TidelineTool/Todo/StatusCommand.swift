#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineStore
internal import TidelineSupport

/// `tideline todo status`: shows pending changes, failures, and the time of the last sync.
struct StatusCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show pending changes, their errors, and the last sync."
    )

    @OptionGroup var options: TodoOptions

    @Flag(help: "Print the status as JSON.")
    var json = false

    /// The output of `--json`.
    struct Report: Codable {
        var items: Int
        var pending: [Pending]
        var errors: [Failure]
        var lastSync: Timestamp?
        var lastResult: String?

        struct Pending: Codable {
            var operation: Int64
            var id: String
            var kind: String
            var attempts: Int64
        }

        struct Failure: Codable {
            var operation: Int64
            var id: String
            var kind: String
            var code: String
            var message: String

            init(_ error: TableOperationError) {
                operation = error.operationID
                id = error.itemID
                kind = error.kind.description
                code = error.code.rawValue
                message = error.message
            }
        }
    }

    /// The maximum number of changes in the text output.
    static let maximumListed = 10

    var isReadOnly: Bool { true }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        let pending = try await session.context.pendingOperations()
        let failures = try await session.context.operationErrors()
        let none = TableQuery(TodoItem.schema.name).limit(0).includingTotalCount()
        let count = try await session.items.rows(matching: none).totalCount ?? 0
        let last = try session.record.read()
        if json {
            return try JSONOutput.print(
                Report(
                    items: count,
                    pending: pending.map {
                        .init(operation: $0.id, id: $0.itemID, kind: $0.kind.description, attempts: $0.attempts)
                    },
                    errors: failures.map { .init($0) }, lastSync: last?.at, lastResult: last?.result))
        }
        StandardOutput.line("\(counted(count, "item")), \(counted(pending.count, "change")) to push")
        Self.list(pending) { operation in
            let tried = operation.attempts > 0 ? ", tried \(counted(Int(operation.attempts), "time"))" : ""
            return "\(shortID(operation.itemID)) \(operation.kind)\(tried)"
        }
        if !failures.isEmpty { StandardOutput.line("\(failures.count) of them failed:") }
        Self.list(failures) { ConflictText.describe($0, store: options.store) }
        StandardOutput.line(
            last.map { "last recorded sync at \(localTime($0.at)): \($0.result)" } ?? "never synced")
    }

    /// Prints up to ``maximumListed`` items, one per line, and the number of items left out.
    private static func list<T>(_ things: [T], _ describe: (T) -> String) {
        for thing in things.prefix(maximumListed) { StandardOutput.line("  " + describe(thing)) }
        let rest = things.count - maximumListed
        if rest > 0 { StandardOutput.line("  and \(rest) more; use --json to list all") }
    }
}
#endif
