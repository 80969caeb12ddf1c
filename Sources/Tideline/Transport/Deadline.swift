/// Runs `operation` for at most `timeout`, then cancels it.
///
/// Transports use it because the time limits of HTTP clients apply to a part of an exchange: async-http-client's ends
/// with the head of the response, and URLSession's is restarted by every byte.
///
/// - Throws: The error of `operation`, or a ``TransportError`` with code `timeout`.
package func withDeadline<T: Sendable>(
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
