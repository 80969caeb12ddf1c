internal import Foundation
internal import HTTPTypes
internal import Tideline
internal import TidelineStore

/// The effects of intermediaries, and of responses in part.
extension WorldRun {
    /// Returns the response that a device gets instead of the server's, or `nil` if the request passes.
    func intercept(_ request: HTTPRequest, by intermediary: Intermediary?) -> TransportResponse? {
        switch intermediary {
        case .responds(let status, let body, let requests)
        where requests == .all || (requests == .reads) == (request.method == .get):
            return Self.response(status, body)
        case .limitsTargets(let bytes) where (request.path ?? "").utf8.count > bytes: return Self.response(414, .page)
        default: return nil
        }
    }

    private static func response(_ status: Int, _ body: Intermediary.Body) -> TransportResponse {
        var head = HTTPResponse(status: .init(code: status))
        if (300..<400).contains(status) { head.headerFields[.location] = "https://sign-in.network/" }
        if body == .text { head.headerFields[.retryAfter] = "120" }
        let text =
            switch body {
            case .page: "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Welcome</body></html>"
            case .text: "Service Unavailable"
            case .empty: ""
            case .json: #"{"message":"no Route matched with those values"}"#
            }
        return TransportResponse(response: head, body: Array(text.utf8))
    }

    /// Returns what an intermediary passes on of a response.
    func pass(
        _ response: TransportResponse, to request: HTTPRequest, _ body: [UInt8], by intermediary: Intermediary?,
        timeout: Duration
    ) async throws -> TransportResponse {
        switch intermediary {
        case .limitsResponses(let bytes) where response.body.count > bytes: return Self.response(502, .page)
        case .resets(let row) where String(decoding: response.body, as: UTF8.self).contains("\"\(row)\""):
            throw TransportError(.connection, "the connection was closed")
        case .slows(let bytesPerSecond):
            let size = (request.path ?? "").utf8.count + body.count + response.body.count
            let duration = Duration.seconds(size / bytesPerSecond)
            try await executor.sleep(for: min(duration, timeout))
            if duration > timeout { throw TransportError(.timeout, "the link is slow") }
            return response
        default: return response
        }
    }

    // MARK: Parts of rows

    /// The columns that a server adds to each row.
    private static let systemColumns = ["id", "version", "createdAt", "updatedAt", "deleted"]

    /// Returns the response to a write with only the system columns of the row.
    ///
    /// - Parameter keepsVersion: Whether the response to an update keeps the version.
    static func partial(
        _ response: TransportResponse, of request: HTTPRequest, keepsVersion: Bool
    ) -> TransportResponse {
        guard let object = try? JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any],
            object["version"] != nil
        else { return response }
        var kept = object.filter { systemColumns.contains($0.key) }
        var response = response
        if !keepsVersion, [.patch, .put].contains(request.method), response.response.status == .ok {
            kept["version"] = nil
            response.response.headerFields[.eTag] = nil
        }
        guard let data = try? JSONSerialization.data(withJSONObject: kept, options: .sortedKeys) else {
            return response
        }
        response.body = Array(data)
        return response
    }

    /// Returns a response with the entity tag that a proxy makes when it compresses the body.
    func withChangedTag(_ response: TransportResponse) -> TransportResponse {
        guard world.hasProxies, let tag = response.response.headerFields[.eTag] else { return response }
        var response = response
        response.response.headerFields[.eTag] = String(tag.dropLast()) + "-gzip\""
        return response
    }

    /// Returns a response whose columns are named in another case.
    func inOtherCase(_ response: TransportResponse) -> TransportResponse {
        var response = response
        for column in Set(world.schema.flatMap(\.columns).map(\.name)) {
            response.body = response.body.replacing("\"\(column)\":".utf8, with: "\"\(column.uppercased())\":".utf8)
        }
        return response
    }

    // MARK: Decimals

    /// The texts after which a number follows, for each column of numbers with a fraction. The server of the dialect
    /// Datasync 3 stores decimals there, which have more digits than a `Double`.
    private var decimals: [(table: String, column: String, key: String)] {
        guard world.dialect == .datasync3 else { return [] }
        return world.schema.flatMap { table in
            table.columns.filter { $0.type == .double }.map { (table.name, $0.name, "\"\($0.name)\":") }
        }
    }

    /// Returns a response with the numbers as the server stores them.
    func withDecimals(_ response: TransportResponse) -> TransportResponse {
        var response = response
        for (_, _, key) in decimals {
            var rest = response.body[...]
            var body: [UInt8] = []
            while let range = rest.firstRange(of: key.utf8) {
                let number = rest[range.upperBound...].prefix { Self.isDigit($0) }
                body += rest[..<number.endIndex]
                if number.contains(UInt8(ascii: ".")) { body += Self.decimalPlaces.utf8 }
                rest = rest[number.endIndex...]
            }
            if !body.isEmpty { response.body = body + rest }
        }
        return response
    }

    /// Checks that a request has the server's text of each number that the device has not written.
    func checkDecimals(of message: Message) {
        guard !decimals.isEmpty, message.request.method == .put, let device = message.device,
            let (table, id) = message.row(in: world.schema), let stored = server.row(id, in: table),
            let version = stored["version"]?.string, message.request.headerFields[.ifMatch]?.contains(version) == true
        else { return }
        for (name, column, key) in decimals where name == table {
            guard let value = stored[column]?.double, let range = message.body.firstRange(of: key.utf8),
                !withOracle({ $0.wrote(device, .double(value), to: column, of: id, in: table) })
            else { continue }
            let text = String(decoding: message.body[range.upperBound...].prefix { Self.isDigit($0) }, as: UTF8.self)
            guard text == "\(value)" else { continue }
            violated(
                "a column that nobody edited keeps its text",
                "device \(device) sent \(text) instead of \(text)\(Self.decimalPlaces) for \(column): \(message)")
        }
    }

    private static let decimalPlaces = "0000000000000000000001"

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
    }
}
