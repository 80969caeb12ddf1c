/// The meaning of a response status for an operation of a push.
enum PushAnswer: Sendable, Hashable {
    /// The request was applied.
    case done
    /// The row does not exist or was deleted.
    case gone
    /// The server row differs from the base row.
    case conflict
    /// The user is not signed in.
    case authentication
    /// The server asks to retry later. Aborts the push after the last attempt.
    case unavailable
    /// The server failed. Fails the operation after the last attempt.
    case serverFailure
    /// Any other status: an error of this operation.
    case rejected

    /// Determines the meaning of a status, according to the table of failed requests in wire-protocol.
    init(status: Int, to kind: OperationKind) {
        switch status {
        case 200..<300: self = .done
        case 401: self = .authentication
        case 404, 410: self = kind == .insert ? .rejected : .gone
        case 409, 412: self = .conflict
        case 408, 429, 503: self = .unavailable
        case 500, 502, 504: self = .serverFailure
        default: self = .rejected
        }
    }
}
