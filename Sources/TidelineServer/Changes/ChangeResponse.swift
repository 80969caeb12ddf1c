internal import Dispatch
public import HTTPTypes

/// The response of a ``ChangeSignal``.
public enum ChangeResponse: Sendable {
    /// A complete response.
    case answer(TableResponse)
    /// A stream of server-sent events, which lasts until the client goes away, its sign-in ends, or the signal ends.
    case events(ChangeEvents)
}

/// A stream of server-sent events. Each element is one event or comment, to be sent before the next is asked for.
///
/// The stream stores nothing for a client that is slow: the changes in the meantime become one event. It ends when the
/// signal ends, the client's sign-in ends, or the task is cancelled, and throws if the store fails.
public struct ChangeEvents: AsyncSequence, Sendable {
    /// The status and headers of the response.
    public let response = HTTPResponse(
        status: .ok, headerFields: [.contentType: "text/event-stream", .cacheControl: "no-store"])
    /// The position after which the stream begins.
    let start: ChangeCursor?
    /// Returns the element after a position, and the position after it.
    let step: @Sendable (ChangeCursor?) async throws -> (bytes: [UInt8], cursor: ChangeCursor)?
    /// Waits for the minimum time between two elements.
    let pause: @Sendable () async throws -> Void

    /// Returns one element after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let events: ChangeEvents
        fileprivate var cursor: ChangeCursor?
        fileprivate var isFirst = true

        /// Returns the next element, once there is one.
        public mutating func next() async throws -> [UInt8]? {
            if !isFirst { try await events.pause() }
            isFirst = false
            guard let (bytes, cursor) = try await events.step(cursor) else { return nil }
            self.cursor = cursor
            return bytes
        }
    }

    /// Begins to read the stream.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: self, cursor: start) }
}

/// Options for a ``ChangeSignal``.
public struct ChangeSignalOptions: Sendable {
    /// The time between two looks for the commits of other services, while a client waits; 200 ms by default. Time
    /// limits have the same precision.
    public var interval: Duration
    /// The maximum time until a request without changes is answered; 50 s by default, less than the time limits of
    /// common proxies. A request can ask for less.
    public var maximumWait: Duration
    /// The time after which a stream of events without changes sends a comment; 25 s by default.
    public var heartbeat: Duration
    /// The minimum time between two events of a stream; 100 ms by default. Changes in the meantime are merged.
    public var minimumEventInterval: Duration
    /// The maximum number of clients that wait at the same time; 10,000 by default. Further requests are answered with
    /// 503.
    public var maximumWaitingClients: Int
    /// Waits for a duration. Throws if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Runs a closure, once, on a thread that may block; by default, one of Dispatch.
    public var schedule: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Creates options.
    public init(
        interval: Duration = .milliseconds(200), maximumWait: Duration = .seconds(50),
        heartbeat: Duration = .seconds(25), minimumEventInterval: Duration = .milliseconds(100),
        maximumWaitingClients: Int = 10_000,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        schedule: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = ChangeSignalOptions.onQueue
    ) {
        self.interval = max(interval, .milliseconds(1))
        self.maximumWait = maximumWait
        self.heartbeat = heartbeat
        self.minimumEventInterval = minimumEventInterval
        self.maximumWaitingClients = maximumWaitingClients
        self.sleep = sleep
        self.schedule = schedule
    }

    /// Runs a closure on a queue of Dispatch.
    @usableFromInline static func onQueue(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().async(execute: body)
    }
}
