internal import Dispatch
internal import TidelineStore

/// Runs blocking calls of the store on threads of its own, one hop per transaction, so that they never hold up the
/// threads on which Swift's tasks run.
struct StoreRunner<Store: LocalStore>: Sendable {
    let store: Store
    /// Writers wait for each other anyway: one queue keeps them from holding several threads.
    private let writes = DispatchQueue(label: "tideline.store.write")
    private let reads = DispatchQueue(label: "tideline.store.read", attributes: .concurrent)

    init(store: Store) { self.store = store }

    func read<T: Sendable>(_ body: @escaping @Sendable (Store.Reader) throws -> T) async throws -> T {
        try await run(on: reads) { try store.read(body) }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (Store.Writer) throws -> T) async throws -> T {
        try await run(on: writes) { try store.write(body) }
    }

    /// Runs another blocking call, such as the definition of tables, among the writes.
    func perform<T: Sendable>(_ body: @escaping @Sendable (Store) throws -> T) async throws -> T {
        try await run(on: writes) { try body(store) }
    }

    private func run<T: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
