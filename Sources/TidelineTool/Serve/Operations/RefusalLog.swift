#if Serve
internal import HTTPTypes
internal import Logging
internal import Synchronization

/// Logs requests that were refused because of who sent them or how often: 401, 403, and 429.
///
/// At most one message a second and status is logged. It has the number of the refusals before it that were not logged.
final class RefusalLog: Sendable {
    private struct Entry {
        var loggedAt: ContinuousClock.Instant
        var omitted = 0
    }

    private let logger: Logger
    private let entries = Mutex<[Int: Entry]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    init(_ logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.logger = logger
        self.now = now
    }

    /// Logs the refusal of a request. Other responses are ignored.
    func note(_ status: Int, to request: ReceivedRequest) {
        guard [401, 403, 429].contains(status) else { return }
        let now = now()
        let omitted: Int? = entries.withLock { entries in
            if let last = entries[status], now - last.loggedAt < .seconds(1) {
                entries[status]?.omitted += 1
                return nil
            }
            return entries.updateValue(Entry(loggedAt: now), forKey: status)?.omitted ?? 0
        }
        guard let omitted else { return }
        let path = request.path.prefix { $0 != "?" }.prefix(200)
        var metadata: Logger.Metadata = [
            "request": "\(request.id)", "method": "\(request.head.method)", "path": "\(path)",
            "status": "\(status)", "address": "\(request.address?.ipAddress ?? "unknown")",
        ]
        if omitted > 0 { metadata["omitted"] = "\(omitted)" }
        logger.notice("refused", metadata: metadata)
    }
}
#endif
