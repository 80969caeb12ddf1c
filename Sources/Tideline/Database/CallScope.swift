internal import Synchronization

/// The scope of a sync that runs itself, or of a call of the app within a sync, a push, or a request, visible to the
/// tasks that run in it.
///
/// In such a task, a call that waits for the running sync, push, or refresh would wait for itself.
final class CallScope: Sendable {
    @TaskLocal private static var current: [CallScope] = []

    private let owner: ObjectIdentifier
    private let isPush: Bool
    // A task that the call started may outlive it, and is free after that.
    private let hasEnded = Mutex(false)

    private init(owner: ObjectIdentifier, isPush: Bool) {
        self.owner = owner
        self.isPush = isPush
    }

    /// The scopes in which the current task runs. Nothing in them waits for a task that was started in an inner one
    /// that has ended.
    private static var active: ArraySlice<CallScope> {
        let scopes = current
        let ended = scopes.lastIndex { $0.hasEnded.withLock { $0 } }
        return scopes[(ended.map { $0 + 1 } ?? 0)...]
    }

    /// Returns whether the current task runs within a call made for this object.
    static func isWithin(_ owner: AnyObject) -> Bool { active.contains { $0.owner == ObjectIdentifier(owner) } }

    /// Whether the current task runs within a call of a delegate, in a push of any client.
    static var isWithinPush: Bool { active.contains { $0.isPush } }

    /// Runs a call made for an object.
    static func run<T: Sendable>(
        for owner: AnyObject, isPush: Bool = false, _ body: () async throws -> T
    ) async rethrows -> T {
        let scope = CallScope(owner: ObjectIdentifier(owner), isPush: isPush)
        defer { scope.hasEnded.withLock { $0 = true } }
        return try await $current.withValue(current + [scope]) { try await body() }
    }
}
