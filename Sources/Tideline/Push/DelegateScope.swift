internal import Synchronization

/// The scope of a delegate call within a push, visible to the tasks that run in it. Another push of the same context
/// would wait for the running one, which waits for the delegate.
final class DelegateScope: Sendable {
    @TaskLocal private static var current: [DelegateScope] = []

    private let context: ObjectIdentifier
    // A task that the delegate started may outlive the call, and may push after that.
    private let hasEnded = Mutex(false)

    private init(context: ObjectIdentifier) { self.context = context }

    /// Returns whether the current task runs within a delegate call in a push of this context.
    static func isWithin(_ context: AnyObject) -> Bool {
        current.contains { $0.context == ObjectIdentifier(context) && !$0.hasEnded.withLock { $0 } }
    }

    /// Whether the current task runs within a delegate call in a push of any context.
    static var isActive: Bool { current.contains { !$0.hasEnded.withLock { $0 } } }

    /// Runs a delegate call within a push of the context.
    static func run<T>(in context: AnyObject, _ body: () async throws -> T) async rethrows -> T {
        let scope = DelegateScope(context: ObjectIdentifier(context))
        defer { scope.hasEnded.withLock { $0 = true } }
        return try await $current.withValue(current + [scope]) { try await body() }
    }
}
