internal import Synchronization

/// The greatest `$top` that the server accepts for each table, as far as it is known; kept as long as the connection.
final class PageLimits: Sendable {
    private struct Limit {
        /// The greatest that was answered.
        var accepted = 0
        /// What a refusal was followed by.
        var maximum = Int.max
    }

    /// What is tried after a refusal.
    private static let steps = [500, 100, 50]

    private let limits = Mutex<[String: Limit]>([:])

    /// How many rows to ask for where `wanted` are wanted.
    func limit(for table: String, wanted: Int) -> Int {
        limits.withLock { min(wanted, $0[table]?.maximum ?? .max) }
    }

    /// What to ask for after 400 to a page of `refused` rows; nil when it was not refused for its size.
    func next(after refused: Int, for table: String) -> Int? {
        guard limits.withLock({ ($0[table]?.accepted ?? 0) < refused }) else { return nil }
        return Self.steps.first { $0 < refused }
    }

    /// A page of `limit` rows was answered, after refusals of more where `isReduced`.
    func accept(_ limit: Int, for table: String, isReduced: Bool) {
        limits.withLock { limits in
            var known = limits[table] ?? Limit()
            known.accepted = max(known.accepted, limit)
            if isReduced { known.maximum = limit }
            limits[table] = known
        }
    }
}
