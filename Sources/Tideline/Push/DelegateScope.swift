internal import Synchronization

/// The scope of a delegate call within a push, visible to the tasks that run in it. Another push of the same store
/// would wait for the running one, which waits for the delegate.
final class DelegateScope: Sendable {
    @TaskLocal private static var current: [DelegateScope] = []

    private let activity: ObjectIdentifier
    // A task that the delegate started may outlive the call, and may push after that.
    private let hasEnded = Mutex(false)

    private init(_ activity: StoreActivity) { self.activity = ObjectIdentifier(activity) }

    /// Returns whether the current task runs within a delegate call in a push with this activity.
    static func isWithin(_ activity: StoreActivity) -> Bool {
        current.contains { $0.activity == ObjectIdentifier(activity) && !$0.hasEnded.withLock { $0 } }
    }

    /// Whether the current task runs within a delegate call in a push of any context.
    static var isActive: Bool { current.contains { !$0.hasEnded.withLock { $0 } } }

    /// Runs a delegate call within a push with an activity.
    static func run<T>(in activity: StoreActivity, _ body: () async throws -> T) async rethrows -> T {
        let scope = DelegateScope(activity)
        defer { scope.hasEnded.withLock { $0 = true } }
        return try await $current.withValue(current + [scope]) { try await body() }
    }
}
