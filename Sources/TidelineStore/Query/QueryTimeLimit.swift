/// The time until which the queries of a reader must end; see ``StoreReader/limitTime``.
package struct QueryTimeLimit: Sendable {
    private let end: ContinuousClock.Instant

    /// Creates a limit, starting the clock.
    package init(_ duration: Duration) { end = .now + duration }

    /// The time that is left; negative if it is over.
    package var remaining: Duration { end - .now }

    /// Whether the time is over.
    package var isExceeded: Bool { ContinuousClock.now >= end }

    /// The error of a query that takes longer.
    package static var error: StoreError {
        StoreError(
            .timeLimit, "the query took longer than its time limit; add a condition, or an index for its columns")
    }

    /// Throws the error if the time is over.
    package func check() throws(StoreError) {
        if isExceeded { throw Self.error }
    }
}
