import Synchronization
import Testing
import Tideline

/// Releases the clients of each test when it ends. A test's inspector or delegate usually uses the client that keeps
/// it, so that without this trait, the client and its store would stay open until the process ends.
struct ReleasingClients: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal private static var current: ReleasedClients?

    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let clients = ReleasedClients()
        defer { clients.release() }
        try await Self.$current.withValue(clients, operation: function)
    }

    /// Releases a client at the end of the current test.
    static func register<Store>(_ client: WorldClient<Store>) {
        current?.add {
            client.transport.inspect(nil)
            client.context.delegate = nil
        }
    }
}

extension Trait where Self == ReleasingClients {
    /// Releases the clients of each test when it ends.
    static var releasesClients: Self { ReleasingClients() }
}

private final class ReleasedClients: Sendable {
    private let releases = Mutex([@Sendable () -> Void]())

    func add(_ release: @escaping @Sendable () -> Void) { releases.withLock { $0.append(release) } }

    func release() { for release in releases.withLock({ $0 }) { release() } }
}
