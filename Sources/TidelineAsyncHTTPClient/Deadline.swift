internal import Tideline

/// Runs `operation` for at most `timeout`, then cancels it.
///
/// async-http-client's own deadline ends with the head of the answer; a body that trickles would never end.
/// - Throws: What `operation` throws, or a ``TransportError`` of code `timeout`.
func withDeadline<T: Sendable>(
    _ timeout: Duration, _ operation: @escaping @Sendable () async throws -> T
) async throws -> T {
    try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: timeout)
            throw TransportError.timeout(after: timeout)
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() else { throw CancellationError() }
        return result
    }
}
