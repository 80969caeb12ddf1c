internal import Synchronization
public import TidelineStore

/// The status of a sync that runs itself; see ``SyncClient/status``.
public enum SyncStatus: Sendable, Hashable {
    /// No sync runs.
    case stopped
    /// Everything is in step as of this time.
    case idle(since: Timestamp)
    /// Local changes are sent: the number of operations that have ended, and the number to send.
    case pushing(done: Int, total: Int)
    /// Rows of a table are fetched: the number of rows received, and the approximate number of rows to receive, if
    /// known.
    case pulling(table: String, rows: Int, total: Int?)
    /// The server cannot be reached, or something else answers in its place, such as the sign-in page of a network. The
    /// message describes the reason. The sync tries again at this time, or earlier if ``SyncSettings/connectivity``
    /// reports a network.
    case offline(message: String, nextTry: Timestamp)
    /// The server requires a sign-in. Pending changes wait until ``SyncClient/signIn(provider:token:)``, a new
    /// ``SyncClient/currentUser``, ``SyncClient/syncNow()``, or a report of ``SyncSettings/connectivity``. The sync
    /// also tries again after each ``SyncSettings/maximumRetryDelay``.
    case needsSignIn
    /// This number of operations failed and are not sent again until they change, ``SyncClient/syncNow()`` is called,
    /// the sync is started again, ``SyncSettings/connectivity`` reports a network, or the server recovers after it
    /// failed for pulls too; see ``SyncClient/operationErrors()``. Everything else is in step, or tried again.
    case needsAttention(operationErrors: Int)
    /// A push, some of its operations, or the pull of a subscription fails for another reason, which the message
    /// describes. Everything else continues. It is tried again at this time. For operations, the code is
    /// ``SyncError/Code/completedWithErrors``; see ``SyncClient/operationErrors()``.
    case failing(code: SyncError.Code, message: String, nextTry: Timestamp)
}

/// Stores the current status and passes it to any number of readers, none of which delays the writer.
final class StatusBoard: Sendable {
    private struct State {
        var current = SyncStatus.stopped
        var nextReader = 0
        var readers: [Int: AsyncStream<SyncStatus>.Continuation] = [:]
    }

    private let state = Mutex(State())

    deinit {
        for reader in state.withLock({ $0.readers.values.map(\.self) }) { reader.finish() }
    }

    var current: SyncStatus { state.withLock { $0.current } }

    func publish(_ status: SyncStatus) {
        state.withLock { state in
            guard status != state.current else { return }
            state.current = status
            // A continuation is called within the lock, so that all readers receive the values in the same order.
            for reader in state.readers.values { reader.yield(status) }
        }
    }

    /// Returns a stream of the current status and each later one. A slow reader skips all but the latest.
    func makeStream() -> AsyncStream<SyncStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncStatus.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.nextReader += 1
            state.readers[state.nextReader] = continuation
            continuation.yield(state.current)
            return state.nextReader
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: number) }
        }
        return stream
    }
}
