internal import Dispatch
public import TidelineStore

extension ObservedStore {
    /// Observes the rows that a query returns.
    ///
    /// The query is read when its iteration begins, in a transaction that excludes other writes. If the store is busy,
    /// such as while another process has its lock, the iteration tries again until its task is cancelled.
    public func observe(_ query: TableQuery) -> LiveQuery<Row> {
        observe(query, opening: openElsewhere, mapError: { $0 })
    }

    /// Observes the number of rows that match a query's predicate. Order, skip, limit, and selection are ignored.
    public func observeCount(_ query: TableQuery) -> LiveValue<Int> {
        observeValue(query, { $0 }, opening: openElsewhere, mapError: { $0 })
    }

    /// Observes whether a row matches a query's predicate.
    public func observeExistence(_ query: TableQuery) -> LiveValue<Bool> {
        observeValue(query, { $0 > 0 }, opening: openElsewhere, mapError: { $0 })
    }

    /// Observes the rows that a query returns, which `open` starts, with errors that `mapError` replaces.
    package func observe(
        _ query: TableQuery, opening open: @escaping @Sendable (LiveRegistration) async throws -> LiveHandle,
        mapError: @escaping @Sendable (any Error) -> any Error
    ) -> LiveQuery<Row> {
        LiveQuery(query: query, open: open, decode: { $0 }, mapError: mapError)
    }

    /// Observes a value of the number of rows that match a query's predicate in the same way.
    package func observeValue<T: Sendable & Equatable>(
        _ query: TableQuery, _ value: @escaping @Sendable (Int) -> T,
        opening open: @escaping @Sendable (LiveRegistration) async throws -> LiveHandle,
        mapError: @escaping @Sendable (any Error) -> any Error
    ) -> LiveValue<T> {
        LiveValue(query: query, open: open, value: value, mapError: mapError)
    }

    /// The number of the last commit that changed a table under observation, from 0.
    public var commit: Int { hub.commit }

    /// The number of live queries that are being iterated.
    package var liveQueryCount: Int { hub.queryCount }

    /// Whether a timer looks for the commits of others.
    package var looksForExternalCommits: Bool { hub.looksForExternalCommits }

    /// The number of tables whose changes are recorded.
    package var observedTableCount: Int { hub.tableCount }

    /// Starts a query on the calling thread.
    package func open(_ registration: LiveRegistration) throws -> LiveHandle {
        try start(registration)
        return handle(of: registration)
    }

    /// Returns the only owner of a query that was started.
    package func handle(of registration: LiveRegistration) -> LiveHandle { LiveHandle(registration, hub) }

    /// Starts a query outside Swift's cooperative pool, whose threads must not block.
    ///
    /// The handle is not made there, because the thread could still own it when the consumer has released it.
    @Sendable private func openElsewhere(_ registration: LiveRegistration) async throws -> LiveHandle {
        while try await !startElsewhere(registration) { try await Task.sleep(for: LiveRegistration.busyPause) }
        return handle(of: registration)
    }

    private func startElsewhere(_ registration: LiveRegistration) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try startUnlessBusy(registration) }) }
        }
    }
}
