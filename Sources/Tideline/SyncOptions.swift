public import HTTPTypes
public import Logging
public import TidelineStore
internal import TidelineWire

/// How a client talks to its server and treats the app's changes.
public struct SyncOptions: Sendable {
    /// The names of the tables that hold the queue, its errors and the tokens.
    public var systemTables = SystemTables()
    /// Whether the context writes the app's rows (the default). If not, only the queue is kept and the app writes the
    /// rows itself, as with the original SDK's flag of the same name.
    public var handlesSyncTableOperations = true
    /// Whether an insert of a row whose delete is pending is an error, as in the original SDK, and not a restore.
    public var isStrict = false
    /// How long one request may take, its answer included.
    public var timeout: Duration = .seconds(60)
    /// How requests are tried again.
    public var retry = RetryPolicy()
    /// The header that signs a request in, such as `X-ZUMO-AUTH`; called for each request, and once more with `true`
    /// when the server answered 401. Nil when nobody is signed in.
    public var authorization: (@Sendable (_ refresh: Bool) async throws -> HTTPField?)?
    /// The id of the user who is signed in, or any text that stands for it; nil where the app does not tell users apart.
    ///
    /// It is kept in the store with the queue and never sent. Once a store has a user, pushes, pulls and local changes
    /// of a client of another user are refused with ``SyncError/Code/otherUser``.
    public var userID: String?
    /// Sent as `X-ZUMO-INSTALLATION-ID`, so that a server can tell the sender of a push notification.
    public var installationID: String?
    /// Headers added to every request.
    public var headers: HTTPFields = [:]
    /// Where the client logs: requests and answers at debug level, retries at notice.
    public var logger = Logger(label: "tideline")
    /// Chance, time and ids; replaced in tests.
    public var environment = SyncEnvironment()

    /// The default options.
    public init() {}
}

/// What the sync core takes from the world besides store and network: pauses, time, chance and ids.
public struct SyncEnvironment: Sendable {
    /// Waits; throws when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 to 1, for the variation of pauses.
    public var random: @Sendable () -> Double
    /// The present; when an operation failed.
    public var now: @Sendable () -> Timestamp
    /// A new id for a row: a lower-case UUID.
    public var makeID: @Sendable () -> String

    /// The system's.
    public init() {
        sleep = { try await Task.sleep(for: $0) }
        random = { Double.random(in: 0...1) }
        now = { .now }
        makeID = { ItemID.random() }
    }
}
