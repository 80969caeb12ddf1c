internal import Synchronization

/// The greatest `$top` that the server accepts for each table, as far as known, for the lifetime of the context.
final class PageLimits: Sendable {
    private struct Limit {
        /// The greatest accepted page size.
        var accepted = 0
        /// The page size that was accepted after a larger one was rejected.
        var maximum = Int.max
    }

    /// The page sizes to try after a rejection.
    private static let steps = [500, 100, 50]

    private let limits = Mutex<[String: Limit]>([:])

    /// Returns the number of rows to request when `wanted` rows are wanted.
    func limit(for table: String, wanted: Int) -> Int {
        limits.withLock { min(wanted, $0[table]?.maximum ?? .max) }
    }

    /// Returns the page size to try after status 400 for a page of `refused` rows, or `nil` if the size was not the
    /// reason.
    func next(after refused: Int, for table: String) -> Int? {
        guard limits.withLock({ ($0[table]?.accepted ?? 0) < refused }) else { return nil }
        return Self.steps.first { $0 < refused }
    }

    /// Records that a page of `limit` rows was accepted, after rejections of larger pages if `isReduced`.
    func accept(_ limit: Int, for table: String, isReduced: Bool) {
        limits.withLock { limits in
            var known = limits[table] ?? Limit()
            known.accepted = max(known.accepted, limit)
            if isReduced { known.maximum = limit }
            limits[table] = known
        }
    }
}
