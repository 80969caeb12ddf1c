#if Serve
internal import NIOCore

/// The state of one connection: what the server waits for, and how long. ``ConnectionGuard`` performs the actions.
struct ConnectionState {
    /// The action when a wait times out.
    enum Expiry: Equatable {
        /// Closes the connection without a response.
        case close
        /// Answers 408 with this reason, and then closes the connection.
        case refuse(String)
    }

    private enum Inbound { case idle, head, body }

    private let limits: ServerLimits
    private var inbound = Inbound.idle
    /// When the server began to wait for the client's next bytes.
    private var since: NIODeadline
    /// The number of requests that have begun and whose responses are not complete.
    private var answersDue = 0
    /// Whether the first of those responses has begun.
    private(set) var isAnswering = false
    /// The number of response parts written that the client has not received, and when it last received one.
    private var partsUntaken = 0
    private var lastTaken: NIODeadline
    /// The position of the response, counted from 1, after which the connection closes, or `nil` if it stays open.
    private var lastAnswer: Int?
    /// When the server closed its output and began to wait for the client to close, or `nil`.
    private var closingSince: NIODeadline?

    /// How long a client may continue to send once the connection is closing. An immediate close could lose the
    /// response.
    private static let lingering = Duration.seconds(2)

    init(limits: ServerLimits, now: NIODeadline) {
        self.limits = limits
        since = now
        lastTaken = now
    }

    var isClosing: Bool { closingSince != nil }
    /// Whether the connection closes after the next or current response.
    var endsWithAnswer: Bool { lastAnswer == 1 }
    /// Whether what the client sends now belongs to no request that is answered.
    var ignoresRequests: Bool { isClosing || (lastAnswer != nil && inbound != .body) }
    /// Whether a response is due before the connection may close.
    var isResponseDue: Bool { isClosing || lastAnswer.map { $0 > 0 } ?? (answersDue > 0) }
    /// Whether a response that belongs to no pending request may be written now.
    var canRefuse: Bool { !isClosing && !isAnswering && answersDue <= (inbound == .body ? 1 : 0) }
    /// Whether a request from the client is incomplete.
    var isWithinRequest: Bool { inbound != .idle }

    // MARK: Events

    mutating func bytesArrived(_ now: NIODeadline) {
        if inbound == .idle { (inbound, since) = (.head, now) }
    }

    mutating func headArrived(_ now: NIODeadline, endsConnection: Bool) {
        (inbound, since) = (.body, now)
        answersDue += 1
        if endsConnection { lastAnswer = lastAnswer ?? answersDue }
    }

    mutating func requestEnded(_ now: NIODeadline) { (inbound, since) = (.idle, now) }

    mutating func answerBegan(endsConnection: Bool) {
        isAnswering = true
        // When a request is answered early, the server does not wait for the rest of it.
        if endsConnection || (inbound == .body && answersDue == 1) { lastAnswer = 1 }
    }

    mutating func partWritten(_ now: NIODeadline) {
        if partsUntaken == 0 { lastTaken = now }
        partsUntaken += 1
    }

    mutating func partTaken(_ now: NIODeadline) {
        partsUntaken -= 1
        lastTaken = now
    }

    mutating func answerEnded(_ now: NIODeadline) {
        answersDue -= 1
        lastAnswer = lastAnswer.map { $0 - 1 }
        isAnswering = false
        since = now
    }

    mutating func closing(_ now: NIODeadline) { closingSince = now }

    /// Ends the connection after the responses to the requests that have arrived in full.
    mutating func stop() {
        lastAnswer = lastAnswer ?? (inbound == .body ? answersDue - 1 : answersDue)
    }

    // MARK: Waiting

    /// The deadline of the current wait and the action when it passes, or `nil` while the server has work to do.
    var wait: (until: NIODeadline, then: Expiry)? {
        if partsUntaken > 0 { return (lastTaken + limits.bodyTimeout, .close) }
        if let closingSince { return (max(closingSince, lastTaken) + Self.lingering, .close) }
        switch inbound {
        case .idle:
            return answersDue == 0 ? (since + limits.idleTimeout, .close) : nil
        case .head:
            guard answersDue == 0 else { return nil }
            return (since + limits.headerTimeout, .refuse("the headers took longer than \(limits.headerTimeout)"))
        case .body:
            guard answersDue == 1 else { return nil }
            return (since + limits.bodyTimeout, .refuse("the body took longer than \(limits.bodyTimeout)"))
        }
    }
}

extension NIODeadline {
    fileprivate static func + (deadline: NIODeadline, duration: Duration) -> NIODeadline {
        deadline + TimeAmount(duration)
    }
}
#endif
