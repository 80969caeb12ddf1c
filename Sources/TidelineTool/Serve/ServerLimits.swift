#if Serve
/// The limits for clients of a server: how long it waits for them, and how much memory their requests use.
struct ServerLimits: Sendable {
    /// The maximum size of a request body, in bytes. Larger bodies are answered with 413.
    var maximumBodySize = 16 << 20
    /// The maximum total size of the bodies of all requests in flight, in bytes. Further requests are answered with
    /// 503.
    ///
    /// The process takes more memory: up to seven times as much while rows of long texts are parsed, stored, and
    /// returned, and up to ten times as much for long JSON arrays.
    var maximumBodiesSize = 64 << 20
    /// The maximum total size of the responses that clients have not received yet, in bytes. Further ones are answered
    /// with 503. Responses smaller than ``minimumCountedSize`` count only if their clients do not receive them at once.
    /// If there is no room for one of these, they can take a sixteenth of this size more; beyond it, the connection of
    /// a further one is closed. A client that receives nothing of a response is disconnected if others need its memory.
    var maximumResponsesSize = 512 << 20
    /// The time after which the memory of a response is given to others that need it, if its client receives nothing.
    var stallTimeout = Duration.seconds(1)
    /// The maximum number of reads that wait for a thread. Further ones are answered with 503.
    var maximumWaitingReads = 1_000
    /// The maximum time a connection may stay open without a request.
    var idleTimeout = Duration.seconds(60)
    /// The maximum time to receive the headers of a request, from their first byte. Slower requests are answered with
    /// 408. It is also that of a TLS handshake, after which the connection is closed.
    var headerTimeout = Duration.seconds(10)
    /// The maximum time to receive the body of a request, from the end of its headers. Slower requests are answered
    /// with 408. A client that receives none of its response for this time is disconnected.
    var bodyTimeout = Duration.seconds(60)

    /// The maximum number of clients that wait for changes at the same time. Further ones are answered with 503. Fewer
    /// than ``maximumConnections``, so that other requests find a connection.
    var maximumWaitingClients = 3_072
    /// The maximum number of connections. Further ones are closed.
    var maximumConnections = 4_096
    /// The maximum number of connections of one address, or `nil` for no limit.
    var maximumConnectionsPerAddress: Int?
    /// The maximum number of requests per second of one address, or `nil` for no limit. Further ones are answered with
    /// 429.
    var maximumRate: Int?
    /// The maximum size of a path with its query, in bytes. Longer ones are answered with 414.
    var maximumQuerySize = 64 << 10

    /// The maximum size of the headers of a request, in bytes. Larger headers are answered with 431, or end a
    /// connection of HTTP/2.
    static let maximumHeaderSize = 80 << 10
    /// The maximum number of requests at the same time on a connection of HTTP/2. Further ones are refused, and the
    /// client sends them again.
    static let maximumStreams = 100
    /// The size in bytes from which a response counts toward ``maximumResponsesSize`` before it is sent.
    static let minimumCountedSize = 4 << 10
    /// The memory in bytes that a response takes beside its body: that of a stream of HTTP/2. It counts, too.
    static let responseOverhead = 8 << 10

    /// Returns what a response with a body of a size in bytes takes before it is sent; 0 for a small one.
    static func memory(ofResponse size: Int) -> Int { size < minimumCountedSize ? 0 : size + responseOverhead }
}
#endif
