/// A limit on the number of concurrent test bodies. Tests that limit the time of a thread need a share of the
/// processors.
public actor ConcurrencyLimit {
    /// The limit on checks of the conformance suite. All begin at once otherwise, and on a busy machine those that wait
    /// for threads of their own time out.
    public static let checks = ConcurrencyLimit(4)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter count: The maximum number of bodies that run at the same time.
    public init(_ count: Int) { free = count }

    /// Runs `body` as soon as fewer bodies than the limit are running.
    public nonisolated func run<T: Sendable>(_ body: sending () async throws -> T) async rethrows -> T {
        await enter()
        do {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
