public import HTTPTypes
public import Logging
public import TidelineStore
internal import TidelineWire

/// The options for a client's requests and local changes.
public struct SyncOptions: Sendable {
    /// The form of the table protocol that the server uses.
    public var dialect = ServerDialect.zumo2
    /// The names of the tables for the queue, its errors, the tokens, and the record of decisions about conflicts.
    public var systemTables = SystemTables()
    /// Whether the context writes the app's rows; `true` by default. If `false`, the context maintains only the queue
    /// and the app writes the rows itself, as with the original SDK's flag of the same name.
    public var handlesSyncTableOperations = true
    /// Whether an insert of a row with a pending delete is an error, as in the original SDK, instead of a restore.
    public var rejectsInsertOverPendingDelete = false
    /// The policy for conflicts of tables that ``conflictPolicies`` does not name; ``ConflictPolicy/manual`` by
    /// default, which leaves them to the app.
    ///
    /// Rules for columns apply to each table that has the column.
    public var conflictPolicy = ConflictPolicy.manual
    /// The policies for conflicts of single tables, by the tables' names.
    public var conflictPolicies: [String: ConflictPolicy] = [:]
    /// The number of decisions of conflict policies that are recorded, at least 1; 1,000 by default. Older ones are
    /// removed.
    public var maximumDecisions = 1_000
    /// The time limit for the response to a request, and then for each further 64 KiB of its body.
    public var timeout: Duration = .seconds(60)
    /// The maximum length of the path and query of a request for a page of a pull, in bytes; 8,000 by default, which
    /// most servers accept.
    ///
    /// A pull with a filter that exceeds it throws ``SyncError/Code/invalidArgument`` with the length before anything
    /// is sent. Shorten the filter, or split its list of values into several pulls with a query id each.
    public var maximumURLLength = 8_000
    /// The policy for retrying requests.
    public var retry = RetryPolicy()
    /// Returns the header that authenticates a request, such as `Authorization`, or `nil` if no user is signed in. It
    /// is called for each request, and once more with `true` if the server does not accept it. Requests that are
    /// refused at the same time share one call with `true`. A request that the closure itself sends with the client
    /// leads to no such call.
    ///
    /// If the user must sign in again, the closure throws a ``SyncError`` with code ``SyncError/Code/authentication``.
    /// Any other error, such as that of a network that is down, is a network failure, which signs nobody out.
    ///
    /// The client does not know whose header it is. Unless it sets ``SyncClient/currentUser``, an app with several
    /// users must therefore name the user in ``userID``, so that the changes of one are never sent with the header of
    /// another.
    public var authorization: (@Sendable (_ refresh: Bool) async throws -> HTTPField?)?
    /// The identifier of the signed-in user, or any text that represents it; `nil` if the app does not distinguish
    /// users, or signs them in with ``SyncClient/currentUser``. Required for several users with ``authorization``
    /// alone.
    ///
    /// It is stored with the queue and never sent. Once a store has a user, pushes, pulls, and local changes by a
    /// client with a different user, or without one, throw ``SyncError/Code/otherUser``. A user who is signed in is
    /// compared in the same way; see ``SyncClient/currentUser``.
    public var userID: String?
    /// The installation identifier, sent as `X-ZUMO-INSTALLATION-ID` so that a server can identify the sender of a push
    /// notification. Not sent with a ``CustomDialect``.
    public var installationID: String?
    /// The headers added to every request. They replace those that a dialect adds to every request, such as
    /// ``CustomDialect/headers``. The headers of the single request and of its authentication take precedence over
    /// them, except for the `Accept` of the built-in dialects.
    public var headers: HTTPFields = [:]
    /// The client's logger. Requests and responses are logged at debug level, retries at notice level.
    public var logger = Logger(label: "tideline")
    /// The time after which the push of a process that shares the store, and that was killed or suspended, is taken
    /// over.
    package var pushLeaseDuration = Duration.seconds(15)
    /// The number of rows after which a transaction of a pull ends if another write waits.
    package var rowsPerStep = 250
    /// The sources of randomness, time, and identifiers, which tests can replace.
    public var environment = SyncEnvironment()

    /// Creates the default options.
    public init() {}
}

/// The sync core's dependencies besides store and network: delays, randomness, time, identifiers, and executors.
public struct SyncEnvironment: Sendable {
    /// Waits for the given duration. Throws if the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// Returns a random number from 0 to 1, used to vary retry delays.
    public var random: @Sendable () -> Double
    /// Returns the current time, used to record when an operation failed, in ``SyncStatus``, for the lease that lets
    /// one of several processes push, and for the interval of ``PullSettings/removesLeavers``. Of the delays, only that
    /// of ``AnswerMeaning/retryAfter`` with a response that is not retried depends on it.
    public var now: @Sendable () -> Timestamp
    /// Returns a new row identifier: a lowercase UUID.
    public var makeID: @Sendable () -> String
    /// The executor of the store's blocking calls, or `nil` for dispatch queues of the client's own; `nil` by default.
    public var storeExecutor: StoreExecutor?
    /// The executor on which ``SyncClient/start(_:settings:)`` runs its task, or `nil` for the default executor; `nil`
    /// by default.
    public var taskExecutor: (any TaskExecutor)?

    /// Creates an environment that uses the system's clock and random numbers.
    public init() {
        sleep = { try await Task.sleep(for: $0) }
        random = { Double.random(in: 0...1) }
        now = { .now }
        makeID = { ItemID.random() }
    }
}
