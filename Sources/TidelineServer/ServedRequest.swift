public import HTTPTypes

/// A request that a ``TableService`` has responded to, for metrics and traces; see ``TableServiceOptions/onResponse``.
public struct ServedRequest: Sendable {
    /// The request. Its headers contain the trace of the client, if it has one.
    public let request: HTTPRequest
    /// The response.
    public let response: TableResponse
    /// The time from the call of the service to the response. For a write, it includes the wait for its transaction.
    public let duration: Duration
}
