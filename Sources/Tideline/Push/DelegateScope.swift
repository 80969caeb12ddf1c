internal import Synchronization

/// A delegate's part in a push, known to the tasks that run within it: another push of the same context would wait for
/// the one under way, which waits for the delegate.
final class DelegateScope: Sendable {
    @TaskLocal private static var current: [DelegateScope] = []

    private let context: ObjectIdentifier
    // A task that the delegate started may outlive its part, and may push then.
    private let hasEnded = Mutex(false)

    private init(context: ObjectIdentifier) { self.context = context }

    /// Whether the running task is within the part of a delegate in a push of this context.
    static func isWithin(_ context: AnyObject) -> Bool {
        current.contains { $0.context == ObjectIdentifier(context) && !$0.hasEnded.withLock { $0 } }
    }

    /// Runs a delegate's part in a push of the context.
    static func run<T>(in context: AnyObject, _ body: () async throws -> T) async rethrows -> T {
        let scope = DelegateScope(context: ObjectIdentifier(context))
        defer { scope.hasEnded.withLock { $0 = true } }
        return try await $current.withValue(current + [scope]) { try await body() }
    }
}
