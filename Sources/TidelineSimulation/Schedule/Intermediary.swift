/// Something between a device and the server that responds in the server's place, or changes what passes through it.
///
/// Examples are the sign-in page of a network, a company's proxy, a gateway during a deployment, and a slow link.
public enum Intermediary: Sendable, Hashable, Codable {
    /// Each request of a kind gets a response with a status, and does not arrive.
    case responds(status: Int, body: Body, to: Requests)
    /// A response of more than a number of bytes is replaced by one with the status 502.
    case limitsResponses(bytes: Int)
    /// A request with a longer path and query gets a response with the status 414.
    case limitsTargets(bytes: Int)
    /// The link carries a number of bytes a second, so that requests time out.
    case slows(bytesPerSecond: Int)
    /// The connection is closed at each request for a row, and at each response that contains its identifier.
    /// Everything else passes.
    case resets(row: String)
    /// Requests that change or delete a row are sent twice, and the second response is passed on.
    case repeats
    /// The app gets no token for its requests.
    case withholdsTokens

    /// The body of a response.
    public enum Body: String, Sendable, Hashable, Codable, CaseIterable {
        /// A web page.
        case page
        /// Plain text. The response has a `Retry-After` of two minutes.
        case text
        /// Nothing.
        case empty
        /// JSON that is not of the server's dialect.
        case json
    }

    /// The requests that get a response.
    public enum Requests: String, Sendable, Hashable, Codable, CaseIterable {
        /// All requests.
        case all
        /// The requests that read.
        case reads
        /// The requests that insert, change, or delete a row.
        case writes
    }

    /// Statuses of sign-in pages, proxies, gateways, and web servers whose application does not run.
    static let statuses = [
        200, 301, 302, 307, 400, 401, 403, 404, 405, 407, 408, 409, 410, 412, 421, 429, 451, 500, 502, 503, 504, 511,
        520, 524,
    ]
}

extension Intermediary: CustomStringConvertible {
    /// The intermediary as a Swift expression, without the leading dot.
    public var description: String {
        switch self {
        case .responds(let status, let body, let requests):
            "responds(status: \(status), body: .\(body), to: .\(requests))"
        case .limitsResponses(let bytes): "limitsResponses(bytes: \(bytes))"
        case .limitsTargets(let bytes): "limitsTargets(bytes: \(bytes))"
        case .slows(let bytes): "slows(bytesPerSecond: \(bytes))"
        case .resets(let row): "resets(row: \(row.debugDescription))"
        case .repeats: "repeats"
        case .withholdsTokens: "withholdsTokens"
        }
    }
}
