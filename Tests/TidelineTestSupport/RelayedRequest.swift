internal import Foundation

/// A request that a probe process lets the test send, as one line of text.
public struct RelayedRequest: Codable, Sendable {
    /// The method, such as `POST`.
    public var method: String
    /// The path with the query.
    public var path: String
    /// The headers, as pairs of name and value.
    public var headers: [[String]]
    /// The body.
    public var body: [UInt8]

    /// Creates a request.
    public init(method: String, path: String, headers: [[String]], body: [UInt8]) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// The response to a ``RelayedRequest``, as one line of text.
public struct RelayedResponse: Codable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The headers, as pairs of name and value.
    public var headers: [[String]]
    /// The body.
    public var body: [UInt8]

    /// Creates a response.
    public init(status: Int, headers: [[String]], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

extension Encodable {
    /// The value as JSON in one line.
    public var relayedLine: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }
}

extension Decodable {
    /// Reads a line that ``Swift/Encodable/relayedLine`` has written.
    public init(relayedLine line: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
    }
}
