/// What a status means to an operation of a push.
enum PushAnswer: Sendable, Hashable {
    /// Carried out.
    case done
    /// The row is not there, or was deleted.
    case gone
    /// The server's row is another than the change was made on.
    case conflict
    /// Not signed in.
    case authentication
    /// The server asks to be left alone; aborts the push after the last try.
    case unavailable
    /// The server failed; fails the operation after the last try.
    case serverFailure
    /// Anything else: an error of this operation.
    case rejected

    /// The meaning of a status, after wire-protocol's table of failed requests.
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
