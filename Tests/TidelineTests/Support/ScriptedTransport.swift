import Foundation
import HTTPTypes
import Synchronization
import Tideline
import TidelineStore
import TidelineTestStores

/// A transport that answers with the test's closure and records the requests.
final class ScriptedTransport: Transport {
    typealias Responder = @Sendable (Exchange) async throws -> TransportResponse

    /// A received request.
    struct Exchange: Sendable {
        var number: Int
        var method: HTTPRequest.Method
        /// The path and query, with percent escapes decoded.
        var target: String
        var headers: HTTPFields
        var body: String
        /// The scheme, authority and path as sent.
        var url: String
        var timeout: Duration
    }

    private let recorded = Mutex<[Exchange]>([])
    private let respond: Responder

    init(_ respond: @escaping Responder) { self.respond = respond }

    var requests: [Exchange] { recorded.withLock { $0 } }

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let path = request.path ?? ""
        let exchange = recorded.withLock { recorded in
            let exchange = Exchange(
                number: recorded.count + 1, method: request.method,
                target: path.removingPercentEncoding ?? path, headers: request.headerFields,
                body: String(decoding: body ?? [], as: UTF8.self),
                url: "\(request.scheme ?? "")://\(request.authority ?? "")\(path)", timeout: timeout)
            recorded.append(exchange)
            return exchange
        }
        return try await respond(exchange)
    }
}

extension ScriptedTransport {
    /// Makes a client of a new store that sends its requests with this transport, without pauses.
    func makeClient(
        _ stores: StoreKind = .simplest, url: String = "http://server.test", tables: [TableSchema] = [],
        configure: (inout SyncOptions) -> Void = { _ in }
    ) async throws -> SyncClient<TestStore> {
        var options = SyncOptions()
        options.environment.sleep = { _ in }
        configure(&options)
        let client = try SyncClient(url: url, store: stores.makeStore(), transport: self, options: options)
        if !tables.isEmpty { try await client.define(tables) }
        return client
    }
}

extension TransportResponse {
    /// Makes an answer of the service with a status, a text body and headers. A failure has the service's mark.
    static func answer(_ status: Int, _ body: String = "", headers: HTTPFields = [:]) -> TransportResponse {
        var marked = headers
        if status >= 300 { marked[.serviceMark] = "test" }
        return unmarked(status, body, headers: marked)
    }

    /// Makes an answer without the service's mark.
    static func unmarked(_ status: Int, _ body: String = "", headers: HTTPFields = [:]) -> TransportResponse {
        TransportResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: headers), body: Array(body.utf8))
    }
}

extension HTTPField.Name {
    /// The header by which a client recognizes the service.
    static let serviceMark = Self("X-ZUMO-SERVER-VERSION")!  // A valid name.
}
