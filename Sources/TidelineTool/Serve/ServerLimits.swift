internal import Synchronization

/// What clients may take of a server: how long it waits for them, and how much memory their requests use.
struct ServerLimits: Sendable {
    /// The largest body of a request, in bytes; a larger one is answered with 413.
    var maximumBodySize = 16 << 20
    /// The bodies of all requests in flight, in bytes; a request that does not fit is answered with 503.
    var maximumBodiesSize = 64 << 20
    /// How long a connection may stay open without a request.
    var idleTimeout = Duration.seconds(60)
    /// How long the headers of a request may take, from their first byte; more is answered with 408.
    var headerTimeout = Duration.seconds(10)
    /// How long the body of a request may take, from the end of its headers; more is answered with 408. A client that
    /// takes nothing of its answer for as long is disconnected.
    var bodyTimeout = Duration.seconds(60)

    /// The largest headers of a request, in bytes; larger ones are answered with 431.
    static let maximumHeaderSize = 80 << 10
}

/// The memory that the bodies of requests may take together.
final class BodyBudget: Sendable {
    private let limit: Int
    private let reserved = Mutex(0)

    init(limit: Int) { self.limit = limit }

    /// Reserves so many bytes, to be released later; false, with nothing reserved, if that is more than is left.
    func reserve(_ bytes: Int) -> Bool {
        reserved.withLock { reserved in
            guard bytes <= limit - reserved else { return false }
            reserved += bytes
            return true
        }
    }

    func release(_ bytes: Int) { reserved.withLock { $0 -= bytes } }
}
