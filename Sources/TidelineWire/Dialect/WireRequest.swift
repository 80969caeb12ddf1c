public import HTTPTypes

/// A request as a dialect makes it; the client adds host, sign-in and `User-Agent`, then sends it.
public struct WireRequest: Sendable, Hashable {
    /// The method.
    public var method: HTTPRequest.Method
    /// Path and query relative to the base URL, percent-encoded, without a slash at the beginning:
    /// `tables/TodoItem?$top=50`.
    public var target: String
    /// The headers that the protocol asks for.
    public var headers: HTTPFields
    /// The body, nil when there is none.
    public var body: [UInt8]?

    /// A request.
    public init(method: HTTPRequest.Method, target: String, headers: HTTPFields = [:], body: [UInt8]? = nil) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

/// What a read asks for beside its query.
public struct ReadOptions: Sendable {
    /// Soft-deleted rows, too.
    public var includeDeleted: Bool
    /// Further parameters of the URL, for the server's own scripts. Names must not begin with `$`.
    public var parameters: [(String, String)]
    /// Whether a sync table asks, which is told to the server for its statistics.
    public var isSyncTable: Bool
    /// Whether this is part of an incremental pull, which is told likewise.
    public var isIncremental: Bool

    /// Options; those not named are off.
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

/// What a request makes use of, told to the server in `X-ZUMO-FEATURES`.
public struct RequestFeatures: OptionSet, Sendable, Hashable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// `OL`: a sync table's request.
    public static let offline = RequestFeatures(rawValue: 1)
    /// `QS`: further parameters in the URL. Dialects add it themselves.
    public static let queryParameters = RequestFeatures(rawValue: 2)
    /// `IP`: part of an incremental pull.
    public static let incrementalPull = RequestFeatures(rawValue: 4)
    /// `OC`: a change of one version of a row, with `If-Match` (optimistic concurrency). Dialects add it themselves.
    public static let optimisticConcurrency = RequestFeatures(rawValue: 8)

    /// The header's value, nil when there is nothing to tell.
    var headerValue: String? {
        var names: [String] = []
        if contains(.offline) { names.append("OL") }
        if contains(.queryParameters) { names.append("QS") }
        if contains(.incrementalPull) { names.append("IP") }
        if contains(.optimisticConcurrency) { names.append("OC") }
        return names.isEmpty ? nil : names.joined(separator: ",")
    }
}

/// The base URL that a client was made with, as far as following a link needs it.
public typealias BaseURL = (scheme: String, authority: String, path: String)
