internal import TidelineStore

/// The tables of the current subscriptions of a sync, and the position in the changes that the server signals.
///
/// It lasts as long as the client, so that signals that were interrupted continue where they stood, and a later sync
/// knows whether the server has signals.
final class SubscribedTables: Sendable {
    private struct State {
        var names: [String] = []
        /// The number of times that the names have changed.
        var version = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastNumber = 0
    }

    private let state = LockedValue(State())
    /// The position in the server's changes.
    let position = LockedValue(SignalPosition())

    var names: [String] { state.withLock { $0.names } }
    /// The names, and a number that changes with them.
    var current: (names: [String], version: Int) { state.withLock { ($0.names, $0.version) } }

    /// Begins a sync, which pulls everything first.
    func begin(with subscriptions: [SyncSubscription]) {
        position.withLock { $0.cursor = nil }
        update(to: subscriptions)
    }

    /// Replaces the names by those of the subscriptions, each once.
    func update(to subscriptions: [SyncSubscription]) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            var names: [String] = []
            for name in subscriptions.map(\.table) where !names.contains(name) {
                names.append(name)
            }
            guard names != state.names else { return [] }
            state.names = names
            state.version += 1
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until the names are others than those of a version, or until the task is cancelled.
    func waitForChange(after version: Int) async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard state.version == version, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }
}

/// The position in the changes that a server signals.
struct SignalPosition: Sendable {
    /// The cursor of the latest answer, or `nil` before the first one.
    var cursor: String?
    /// The time in seconds for which the server is asked to wait.
    var wait = Self.maximumWait
    /// The number of answers without changes since the last interruption.
    var undisturbed = 0
    /// Whether the server has answered a request for changes, and thus has a change signal.
    var hasAnswered = false

    static let maximumWait = 50
    private static let minimumWait = 5

    /// Notes that a request was cut off while the server waited. Some proxies do this after a time that only they know.
    mutating func noteInterruption() {
        wait = max(wait / 2, Self.minimumWait)
        undisturbed = 0
    }

    /// Notes an answer after the whole wait. After several, a longer wait is tried.
    mutating func noteFullWait() {
        undisturbed += 1
        guard undisturbed >= 10 else { return }
        wait = min(wait * 2, Self.maximumWait)
        undisturbed = 0
    }
}
