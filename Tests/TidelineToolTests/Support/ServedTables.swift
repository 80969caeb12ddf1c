#if Tool
import HTTPTypes
import Logging
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineSQLite
import TidelineServer

@testable import TidelineTool

func makeServer(
    host: String = "127.0.0.1", limits: ServerLimits = ServerLimits(), servesMetrics: Bool = false
) -> TableServer {
    TableServer(
        host: host, port: 0, limits: limits, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        servesMetrics: servesMetrics)
}

/// Serves in-memory tables while `body` runs. `body` receives the server's authority (`127.0.0.1:PORT`).
func serving(
    limits: ServerLimits = ServerLimits(), servesMetrics: Bool = false, closesStore: Bool = false,
    compresses: Bool = true, identity: ServerIdentity? = nil, logger: Logger? = nil,
    _ body: @escaping @Sendable (String) async throws -> Void
) async throws {
    let store = try SQLiteStore.inMemory()
    var limits = limits
    // A handshake takes long on a busy machine. A test of this limit sets a shorter one.
    if limits.headerTimeout == ServerLimits().headerTimeout { limits.headerTimeout = .seconds(300) }
    var server = makeServer(limits: limits, servesMetrics: servesMetrics)
    server.compresses = compresses
    server.identity = identity
    if let logger { server.logger = logger }
    var options = TableServiceOptions(
        maximumBodySize: limits.maximumBodySize, maximumQueryTime: .seconds(300))
    options.onCommit = server.onCommit
    let service = try TableService(store: store, options: options)
    if closesStore { try store.close() }
    let (urls, listening) = AsyncStream<String>.makeStream()
    let serve = Task {
        defer { listening.finish() }
        try await server.run(service) { listening.yield($0) }
    }
    defer { serve.cancel() }
    var started: String?
    for await url in urls {
        started = url
        break
    }
    let url = try #require(started)
    let prefix = identity == nil ? "http://" : "https://"
    try #require(url.hasPrefix(prefix + "127.0.0.1:"))
    try await body(String(url.dropFirst(prefix.count)))
    serve.cancel()
    _ = await serve.result
    try store.close()
}

/// Sends a request of the table protocol to `127.0.0.1:PORT`, alone or after `http://`.
func send(
    _ method: HTTPRequest.Method, _ path: String, to authority: String, token: String? = nil,
    header: HTTPField.Name = .authorization, body: String? = nil
) async throws -> TransportResponse {
    let authority = authority.replacing("http://", with: "")
    var request = HTTPRequest(method: method, scheme: "http", authority: authority, path: path)
    request.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = "2.0.0"
    if let token { request.headerFields[header] = header == .authorization ? "Bearer \(token)" : token }
    if body != nil { request.headerFields[.contentType] = "application/json" }
    return try await AsyncHTTPClientTransport.shared.send(
        request, body: body.map { Array($0.utf8) }, timeout: .seconds(300))
}
#endif
