internal import ArgumentParser
internal import Tideline
internal import TidelineStore
internal import TidelineSupport

/// `tideline todo status`: what waits, what failed, when it was synced.
struct StatusCommand: TodoSubcommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show pending changes, their errors, and the last sync."
    )

    @OptionGroup var options: TodoOptions

    @Flag(help: "Print it as JSON.")
    var json = false

    /// What `--json` prints.
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
        }
    }

    func perform(_ session: TodoSession<some LocalStore>) async throws {
        let pending = try await session.context.pendingOperations()
        let failures = try await session.context.operationErrors()
        let count = try await session.items.rows(matching: Query(TodoItem.schema.name).limit(0).includingTotalCount())
            .totalCount
        let last = try session.record.read()
        if json {
            return try JSONOutput.print(
                Report(
                    items: count ?? 0,
                    pending: pending.map {
                        .init(operation: $0.id, id: $0.itemID, kind: $0.kind.description, attempts: $0.attempts)
                    },
                    errors: failures.map {
                        .init(
                            operation: $0.operationID, id: $0.itemID, kind: $0.kind.description,
                            code: $0.code.rawValue, message: $0.message)
                    }, lastSync: last?.at, lastResult: last?.result))
        }
        StandardOutput.line("\(counted(count ?? 0, "item")), \(counted(pending.count, "change")) to push")
        for operation in pending {
            let tried = operation.attempts > 0 ? ", sent \(counted(Int(operation.attempts), "time"))" : ""
            StandardOutput.line("  \(shortID(operation.itemID)) \(operation.kind)\(tried)")
        }
        if !failures.isEmpty { StandardOutput.line("\(failures.count) of them failed:") }
        for failure in failures { StandardOutput.line("  " + ConflictText.describe(failure)) }
        StandardOutput.line(
            last.map { "last sync with changes at \($0.at): \($0.result)" } ?? "never synced")
    }
}
