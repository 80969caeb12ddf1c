import Synchronization
import Tideline
import TidelineStore

/// A delegate that runs the test's closure and records its calls.
final class ScriptedDelegate: SyncContextDelegate {
    typealias Part = @Sendable (PushOperation) async throws -> Row?

    private let part: Part
    private let ended: @Sendable (PushResult) async -> Void
    private let seen = Mutex<[String]>([])

    init(_ part: @escaping Part, ended: @escaping @Sendable (PushResult) async -> Void = { _ in }) {
        self.part = part
        self.ended = ended
    }

    /// A delegate that sends a conflict again, on the version of the server's row.
    static var rebasing: ScriptedDelegate {
        ScriptedDelegate { operation in
            do {
                return try await operation.execute()
            } catch let failure as OperationFailure where failure.code == .conflict {
                operation.item["version"] = failure.serverItem?["version"]
                return try await operation.execute()
            }
        }
    }

    /// The recorded calls in order: `update a`, `completed 1`.
    var calls: [String] { seen.withLock { $0 } }

    func perform(_ operation: PushOperation) async throws -> Row? {
        seen.withLock { $0.append("\(operation.operation.kind) \(operation.operation.itemID)") }
        return try await part(operation)
    }

    func pushCompleted(_ result: PushResult) async {
        seen.withLock { $0.append("completed \(result.operationErrors.count)") }
        await ended(result)
    }
}
