#if Serve
internal import ArgumentParser
internal import Foundation
internal import Logging
internal import TidelineServer
internal import TidelineSupport

/// The options of `serve` for logs, metrics, and limits on clients.
struct OperationsOptions: ParsableArguments {
    @Option(help: "The format of log messages: text or json, one object a line.")
    var logFormat = LogFormat.text

    @Flag(
        help: ArgumentHelp(
            "Serve metrics at /metrics, in the text format of Prometheus.",
            discussion: "Clients can read them too, unless a proxy refuses them."))
    var metrics = false

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Compress pages with gzip for clients that accept it.",
            discussion: "Enabled by default. Disable it if a proxy compresses, or if the network is faster than zlib."))
    var compression = true

    @Option(
        help: ArgumentHelp(
            "The URL at which clients reach the server, for links to next pages, such as https://example.com/api.",
            discussion: "Needed behind a proxy that ends TLS or removes a part of the path.", valueName: "url"))
    var publicURL: String?

    @Option(
        help: ArgumentHelp(
            "Speak TLS with this certificate and its issuers, in PEM format. SIGHUP reads it again.", valueName: "file")
    )
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("The private key of the certificate, in PEM format.", valueName: "file"))
    var tlsKey: String?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp("Speak HTTP/2 over TLS with clients that prefer it.", discussion: "Enabled by default."))
    var http2 = true

    @Option(
        help: ArgumentHelp(
            "The time after SIGTERM in which requests are still accepted, while /.ready answers 503, in seconds.",
            discussion: "Longer than a load balancer takes to notice that. 0 by default.", valueName: "seconds"))
    var drain = 0

    @Option(
        help: ArgumentHelp(
            "The maximum time to finish the requests in flight after SIGTERM and --drain, in seconds. Then their connections are closed.",
            valueName: "seconds"))
    var shutdownTimeout = 30

    @Option(help: "The maximum number of connections. Further ones are closed.")
    var maxConnections = 4_096

    @Option(
        help: ArgumentHelp(
            "The maximum number of connections of one address. Unlimited by default.",
            discussion: "Behind a proxy, all connections have its address."))
    var maxConnectionsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum number of clients that wait for changes. Further ones are answered with 503.",
            discussion: """
                The default is three quarters of --max-connections, but at most 10000; the rest is for other requests. \
                With HTTP/2, many clients can wait on one connection.
                """))
    var maxWaitingClients: Int?

    @Option(
        help: ArgumentHelp(
            "The maximum number of requests per second of one address. Unlimited by default.",
            discussion: "Twice as many are accepted at once after a pause, further ones are answered with 429.",
            valueName: "count"))
    var rateLimit: Int?

    @Option(
        help:
            "The maximum size of a request's path and query, with its filter, in bytes. Longer ones are answered with 414."
    )
    var maxQuerySize = 64 << 10

    @Option(help: "The maximum $top of a ZUMO 2 request, 1 to 1000. Greater ones are answered with 400.")
    var maxPageSize = 1_000

    @Option(help: "The maximum size of a page, in bytes. It ends with a link to the next page, after at least one row.")
    var maxPageBytes = 16 << 20

    @Option(help: "The number of tables from which on requests can create no more.")
    var maxTables = 1_000

    @Option(help: "The maximum number of columns of a table to which requests add columns.")
    var maxColumns = 1_000

    enum LogFormat: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    func validate() throws {
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key must be given together.")
        }
        let numbers: [(String, Int?, ClosedRange<Int>)] = [
            ("drain", drain, 0...3_600), ("shutdown-timeout", shutdownTimeout, 1...86_400),
            ("max-page-size", maxPageSize, 1...1_000), ("max-page-bytes", maxPageBytes, 1...(1 << 30)),
            ("max-tables", maxTables, 1...10_000), ("max-columns", maxColumns, 1...1_000),
            ("max-connections", maxConnections, 1...1_000_000),
            ("max-connections-per-address", maxConnectionsPerAddress, 1...1_000_000),
            ("max-waiting-clients", maxWaitingClients, 1...1_000_000),
        ]
        for case (let name, let number?, let range) in numbers { try confirm(number, in: range, "--\(name)") }
        if let publicURL { _ = try Self.origin(of: publicURL) }
        if let rate = rateLimit { try confirm(rate, in: 1...1_000_000, "--rate-limit") }
        try confirm(maxQuerySize, in: 1_000...ServerLimits.maximumHeaderSize, "--max-query-size")
    }

    /// Returns the URL of clients without a slash at its end.
    private static func origin(of url: String) throws -> String {
        guard let parts = URLComponents(string: url), ["http", "https"].contains(parts.scheme?.lowercased()),
            parts.host?.isEmpty == false, parts.user == nil, parts.query == nil, parts.fragment == nil,
            url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"<>\"".utf8.contains($0) })
        else {
            throw ValidationError(
                "--public-url must be http:// or https://, a host, and optionally a port and a path, not \(url.debugDescription)."
            )
        }
        return String(url.reversed().drop { $0 == "/" }.reversed())
    }

    /// Returns a logger to standard error.
    func makeLogger(_ level: LogLevel) -> Logger {
        var logger = Logger(label: "tideline.serve") { label -> any LogHandler in
            guard logFormat == .json else { return StreamLogHandler.standardError(label: label) }
            return JSONLogHandler(label: label)
        }
        logger.logLevel = level.level
        return logger
    }

    /// Returns the certificate of the server, or `nil` if it does not speak TLS.
    func makeIdentity() throws -> ServerIdentity? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return try ServerIdentity(certificate: tlsCertificate, key: tlsKey, allowsHTTP2: http2)
    }

    /// Sets the limits of these options.
    func apply(to limits: inout ServerLimits) {
        limits.maximumConnections = maxConnections
        limits.maximumConnectionsPerAddress = maxConnectionsPerAddress
        limits.maximumWaitingClients = maxWaitingClients ?? min(10_000, max(1, maxConnections * 3 / 4))
        limits.maximumRate = rateLimit
        limits.maximumQuerySize = maxQuerySize
    }

    /// Sets the limits of these options.
    func apply(to options: inout TableServiceOptions) throws {
        options.publicURL = try publicURL.map(Self.origin)
        options.maximumPageSize = maxPageSize
        options.defaultPageSize = min(options.defaultPageSize, maxPageSize)
        options.maximumPageBytes = maxPageBytes
        options.maximumTables = maxTables
        options.maximumColumns = maxColumns
    }
}
#endif
