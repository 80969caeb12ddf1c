internal import NIOCore

/// What a server waits for on one connection, and how long: decided here, carried out by ``ConnectionGuard``.
struct ConnectionState {
    /// What to do when a wait was too long.
    enum Expiry: Equatable {
        /// Closes the connection without a word.
        case close
        /// Answers 408 with this reason, then closes the connection.
        case refuse(String)
    }

    private enum Inbound { case idle, head, body }

    private let limits: ServerLimits
    private var inbound = Inbound.idle
    /// When what is awaited from the client was first awaited.
    private var since: NIODeadline
    /// How many requests have begun whose answers are not written yet.
    private var answersDue = 0
    /// Whether the first of those answers has begun.
    private(set) var isAnswering = false
    /// How many parts of answers were written that the client has not taken, and when it last took one.
    private var partsUntaken = 0
    private var lastTaken: NIODeadline
    /// With which of the answers due the connection ends, counted from 1; nil when it goes on.
    private var lastAnswer: Int?
    /// Since when nothing more is said on the connection, and the client's end awaited.
    private var closingSince: NIODeadline?

    /// How long a client may go on sending once its connection ends. Closing at once would take its answer from it.
    private static let lingering = Duration.seconds(2)

    init(limits: ServerLimits, now: NIODeadline) {
        self.limits = limits
        since = now
        lastTaken = now
    }

    var isClosing: Bool { closingSince != nil }
    /// Whether the connection ends with the answer that comes next or is being written.
    var endsWithAnswer: Bool { lastAnswer == 1 }
    /// Whether an answer that is not that of a request still due may be written now.
    var canRefuse: Bool { !isClosing && !isAnswering && answersDue <= (inbound == .body ? 1 : 0) }
    /// Whether the client still owes a part of a request.
    var isWithinRequest: Bool { inbound != .idle }

    // MARK: What happens

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
        // The rest of a request that is answered early is not waited for.
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

    // MARK: Waiting

    /// Until when the present wait may last, and what then; nil while it is for the server itself to go on.
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
