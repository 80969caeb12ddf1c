/// The settings of a sync that runs itself; see ``SyncClient/start(_:settings:)``.
public struct SyncSettings: Sendable {
    /// The settings of the pulls and, in ``PullSettings/push``, of the pushes. ``PullSettings/whenPushFails`` and
    /// ``PushSettings/whenOtherProcessPushes`` have no effect: the sync pulls in any case, and waits.
    public var pull: PullSettings
    /// The time without local changes after which they are pushed; 200 ms by default. Changes that keep coming are
    /// pushed after five times this duration.
    public var pushDelay: Duration
    /// The delay before the first retry after a failure; 1 s by default. Each further delay is twice as long. Delays
    /// are randomly reduced by up to half.
    public var initialRetryDelay: Duration
    /// The maximum delay before a retry, also if the server asks for a longer one; 5 minutes by default.
    public var maximumRetryDelay: Duration
    /// Reports when a network is available, or `nil`, the default, if nothing does. The sync then depends on its
    /// retries, which are up to ``maximumRetryDelay`` apart. On Apple platforms, set it to a `NetworkPathMonitor`.
    public var connectivity: (any ConnectivityMonitor)?
    /// Whether to listen to the change signals of the server, so that its changes are pulled at once; `true` by
    /// default.
    ///
    /// For a table service, this is a request that waits until a table has changed (`/.changes`, as `tideline serve`
    /// answers it). A server without it is asked again after an hour, after ``SyncClient/syncNow()``, and when
    /// ``connectivity`` reports a network; meanwhile, the sync depends on the intervals of the subscriptions. For other
    /// servers, see ``CustomDialect/changeSignals(over:)``.
    public var listensToServer: Bool
    /// The tables that have changed on the server, or `nil` if nothing but the server reports them
    /// (``listensToServer``). Without reports, the sync depends on the intervals of the subscriptions.
    public var changeSignals: ChangeSignals?

    /// Creates settings.
    public init(
        pull: PullSettings = PullSettings(), pushDelay: Duration = .milliseconds(200),
        initialRetryDelay: Duration = .seconds(1), maximumRetryDelay: Duration = .seconds(300),
        connectivity: (any ConnectivityMonitor)? = nil, changeSignals: ChangeSignals? = nil,
        listensToServer: Bool = true
    ) {
        self.pull = pull
        self.pushDelay = pushDelay
        self.initialRetryDelay = initialRetryDelay
        self.maximumRetryDelay = maximumRetryDelay
        self.connectivity = connectivity
        self.changeSignals = changeSignals
        self.listensToServer = listensToServer
    }
}

/// A sequence of the names of tables that have changed on the server, such as one fed by push notifications.
///
/// A name lets the sync pull the subscriptions of the table, each at most once a second. Names are hints: no row
/// depends on them. Names that are missing, repeated, or wrong only make pulls later or more frequent. After the
/// sequence ends or throws, the sync continues with the intervals of its subscriptions. A dialect is then asked for
/// another sequence, after a delay.
public struct ChangeSignals: Sendable {
    /// Calls a closure with each name.
    let read: @Sendable (_ body: (String) async throws -> Void) async throws -> Void

    /// Creates signals that a closure reads until its task is cancelled.
    init(_ read: @escaping @Sendable (_ body: (String) async throws -> Void) async throws -> Void) { self.read = read }

    /// Creates signals from a sequence. Its iterator must return when its task is cancelled, as that of `AsyncStream`
    /// does, because ``SyncClient/stop()`` waits for it.
    public init<Names: AsyncSequence & Sendable>(_ names: Names) where Names.Element == String {
        read = { body in
            for try await name in names { try await body(name) }
        }
    }
}
