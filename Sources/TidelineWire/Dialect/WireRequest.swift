package import HTTPTypes

/// A request that a dialect creates. The client adds the host, the authentication and `User-Agent`, and sends it.
package struct WireRequest: Sendable, Hashable {
    /// The HTTP method.
    package var method: HTTPRequest.Method
    /// The percent-encoded path and query relative to the base URL, without a leading slash: `tables/TodoItem?$top=50`.
    package var target: String
    /// The headers that the protocol requires.
    package var headers: HTTPFields
    /// The body, or `nil` if there is no body.
    package var body: [UInt8]?

    /// Creates a request.
    package init(method: HTTPRequest.Method, target: String, headers: HTTPFields = [:], body: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

/// The options of a read in addition to its query.
package struct ReadOptions: Sendable {
    /// Whether to include soft-deleted rows.
    package var includeDeleted: Bool
    /// Additional parameters of the URL, for custom scripts of the server. Names must not begin with `$`.
    package var parameters: [(String, String)]
    /// Whether the request is from a sync table. The server receives this for its statistics.
    package var isSyncTable: Bool
    /// Whether the request is part of an incremental pull. The server receives this for its statistics.
    package var isIncremental: Bool

    /// Creates options. The default of each option is off.
    package init(
        includeDeleted: Bool = false, parameters: [(String, String)] = [], isSyncTable: Bool = false,
        isIncremental: Bool = false
    ) {
        self.includeDeleted = includeDeleted
        self.parameters = parameters
        self.isSyncTable = isSyncTable
        self.isIncremental = isIncremental
    }

    var features: RequestFeatures {
        var features: RequestFeatures = []
        if isSyncTable { features.insert(.offline) }
        if isIncremental { features.insert(.incrementalPull) }
        return features
    }
}

/// The features that a request uses, which the client sends in the header `X-ZUMO-FEATURES`.
package struct RequestFeatures: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// `OL`: a request of a sync table.
    package static let offline = RequestFeatures(rawValue: 1)
    /// `QS`: a request with additional URL parameters. Dialects add this feature themselves.
    package static let queryParameters = RequestFeatures(rawValue: 2)
    /// `IP`: a part of an incremental pull.
    package static let incrementalPull = RequestFeatures(rawValue: 4)
    /// `OC`: a change of a specific row version, with `If-Match` (optimistic concurrency). Dialects add this feature
    /// themselves.
    package static let optimisticConcurrency = RequestFeatures(rawValue: 8)

    /// The header's value, or `nil` if there are no features.
    var headerValue: String? {
        var names: [String] = []
        if contains(.offline) { names.append("OL") }
        if contains(.queryParameters) { names.append("QS") }
        if contains(.incrementalPull) { names.append("IP") }
        if contains(.optimisticConcurrency) { names.append("OC") }
        return names.isEmpty ? nil : names.joined(separator: ",")
    }
}

/// The parts of a client's base URL that are needed to follow links.
package typealias BaseURL = (scheme: String, authority: String, path: String)
