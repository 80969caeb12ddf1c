internal import Tideline

/// Runs `operation` for at most `timeout`, then cancels it.
///
/// async-http-client's own deadline applies only up to the head of the response, so a slow body could take forever.
///
/// - Throws: The error of `operation`, or a ``TransportError`` with code `timeout`.
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
