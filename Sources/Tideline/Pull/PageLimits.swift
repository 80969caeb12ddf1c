internal import Synchronization
internal import TidelineStore

/// The number of rows to request for each table, as far as known, for the lifetime of the context.
///
/// A server may reject a page size. A page may also be too large for the server, the transport, or the time limit,
/// which depends on its rows and on the network. The size is then halved, and grows again after pages that arrived.
final class PageLimits: Sendable {
    private struct Limit {
        /// The greatest accepted page size.
        var accepted = 0
        /// The page size that was accepted after a larger one was rejected.
        var maximum = Int.max
        /// The page size after pages that were too large, or `nil` if there were none.
        var reduced: Int?
        /// The number of pages that arrived since the size was reduced or has grown.
        var arrivals = 0
        /// The number of such pages after which the size grows. It doubles each time that the size is reduced, so that
        /// a network that remains slow costs few pages in vain.
        var patience = PageLimits.minimumPatience
    }

    /// The number of requests in a row that may time out before a pull fails. Each asks for half as many rows.
    static let maximumTimeouts = 4

    /// The page sizes to try after a rejection.
    private static let steps = [500, 100, 50]
    private static let minimumPatience = 4
    private static let maximumPatience = 256

    /// The limits by the table's name.
    private let limits = Mutex<[String: Limit]>([:])

    /// Returns the number of rows to request when `wanted` rows are wanted.
    func limit(for table: String, wanted: Int) -> Int {
        limits.withLock { limits in
            guard let known = limits[table] else { return wanted }
            return min(wanted, known.maximum, known.reduced ?? .max)
        }
    }

    /// Returns the page size to try after the server refused a page of `refused` rows, or `nil` if the size was not the
    /// reason.
    func next(after refused: Int, for table: String) -> Int? {
        guard limits.withLock({ ($0[table]?.accepted ?? 0) < refused }) else { return nil }
        return Self.steps.first { $0 < refused }
    }

    /// Records that a page of `limit` rows was too large.
    ///
    /// - Returns: The page size to try next, or `nil` if the page had a single row.
    func halve(_ limit: Int, for table: String) -> Int? {
        guard limit > 1 else { return nil }
        return limits.withLock { limits in
            var known = limits[table] ?? Limit()
            if known.arrivals > 0 || known.reduced == nil {
                known.patience = min(known.patience * 2, Self.maximumPatience)
            }
            known.reduced = limit / 2
            known.arrivals = 0
            limits[table] = known
            return limit / 2
        }
    }

    /// Records that a page of `limit` rows arrived, after rejections of larger pages if `isReduced`.
    ///
    /// - Parameter wanted: The number of rows to which the size grows.
    func accept(_ limit: Int, for table: String, isReduced: Bool, wanted: Int = .max) {
        limits.withLock { limits in
            var known = limits[table] ?? Limit()
            known.accepted = max(known.accepted, limit)
            if isReduced { known.maximum = limit }
            if let reduced = known.reduced, limit >= reduced {
                known.arrivals += 1
                if known.arrivals >= known.patience {
                    known.arrivals = 0
                    known.reduced = reduced < wanted / 2 ? reduced * 2 : nil
                }
            }
            limits[table] = known
        }
    }
}

extension SyncError {
    /// Whether the time limit passed before the response was complete.
    var isTimeout: Bool { (cause as? TransportError)?.code == .timeout }

    /// Whether a page with fewer rows may arrive: the page was too large for the server, the transport, or the time
    /// limit.
    var concernsPageSize: Bool { isTimeout || (cause as? TransportError)?.code == .tooLarge || status == 413 }
}
