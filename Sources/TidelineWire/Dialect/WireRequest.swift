public import HTTPTypes

/// A request that a dialect creates. The client adds the host, the authentication and `User-Agent`, and sends it.
public struct WireRequest: Sendable, Hashable {
    /// The HTTP method.
    public var method: HTTPRequest.Method
    /// The percent-encoded path and query relative to the base URL, without a leading slash: `tables/TodoItem?$top=50`.
    public var target: String
    /// The headers that the protocol requires.
    public var headers: HTTPFields
    /// The body, or `nil` if there is no body.
    public var body: [UInt8]?

    /// Creates a request.
    public init(method: HTTPRequest.Method, target: String, headers: HTTPFields = [:], body: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

/// The options of a read in addition to its query.
public struct ReadOptions: Sendable {
    /// Whether to include soft-deleted rows.
    public var includeDeleted: Bool
    /// Additional parameters of the URL, for custom scripts of the server. Names must not begin with `$`.
    public var parameters: [(String, String)]
    /// Whether the request is from a sync table. The server receives this for its statistics.
    public var isSyncTable: Bool
    /// Whether the request is part of an incremental pull. The server receives this for its statistics.
    public var isIncremental: Bool

    /// Creates options. The default of each option is off.
    public init(
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
public struct RequestFeatures: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `OL`: a request of a sync table.
    public static let offline = RequestFeatures(rawValue: 1)
    /// `QS`: a request with additional URL parameters. Dialects add this feature themselves.
    public static let queryParameters = RequestFeatures(rawValue: 2)
    /// `IP`: a part of an incremental pull.
    public static let incrementalPull = RequestFeatures(rawValue: 4)
    /// `OC`: a change of a specific row version, with `If-Match` (optimistic concurrency). Dialects add this feature
    /// themselves.
    public static let optimisticConcurrency = RequestFeatures(rawValue: 8)

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
public typealias BaseURL = (scheme: String, authority: String, path: String)
