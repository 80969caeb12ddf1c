internal import Synchronization
internal import TidelineStore

/// Sends the queue of a store to its server, one push at a time.
final class Pusher<Store: LocalStore>: Sendable {
    let queue: OperationQueue<Store>
    let owner: StoreOwnership<Store>
    let definitions: DefinitionStore
    let decisions: DecisionStore
    let policies: PolicyBook
    let recentlyPushed: RecentlyPushedRows
    let connection: ServerConnection
    let dialect: any ClientDialect
    let resolver: any OperationResolver
    let codecs = CodecCache()
    private let state = Mutex<(any SyncContextDelegate)?>(nil)

    var database: SyncDatabase<Store> { queue.database }
    var options: SyncOptions { connection.options }

    init(
        _ queue: OperationQueue<Store>, of owner: StoreOwnership<Store>, definitions: DefinitionStore,
        decisions: DecisionStore, policies: PolicyBook, recentlyPushed: RecentlyPushedRows,
        to connection: ServerConnection, _ dialect: any ClientDialect, resolver: any OperationResolver
    ) {
        self.queue = queue
        self.owner = owner
        self.definitions = definitions
        self.decisions = decisions
        self.policies = policies
        self.recentlyPushed = recentlyPushed
        self.connection = connection
        self.dialect = dialect
        self.resolver = resolver
    }

    var delegate: (any SyncContextDelegate)? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Returns the writer of the outcomes of a table's operations.
    func outcomes(with codec: RowCodec) -> PushOutcomes {
        PushOutcomes(
            operations: queue.operations, errors: queue.errors, decisions: decisions, recentlyPushed: recentlyPushed,
            codec: codec, policy: policies.policy(for: codec.schema.name), now: options.environment.now)
    }

    /// See ``SyncContext/push(settings:)``.
    func push(settings: PushSettings) async throws -> PushResult {
        let (database, clients) = (database, database.clients)
        guard !CallScope.isWithin(clients) else {
            throw SyncError(
                .invalidArgument, "a delegate cannot push while it performs an operation; push from pushCompleted(_:)")
        }
        try settings.check()
        return try await SyncError.wrappingErrors {
            var (result, delegate) = try await clients.pushLock.withLock {
                try await connection.account.withCurrentUser {
                    try await owner.confirmOfQueue()
                    try await policies.check(in: database)
                    let delegate = self.delegate
                    return (await PushRun(self, delegate: delegate, settings: settings).run(), delegate)
                }
            }
            // The push is over, so the delegate may push again after it has resolved the errors.
            if let delegate {
                await CallScope.run(for: self) { [result] in await delegate.pushCompleted(result) }
            }
            result.operationErrors.removeAll(where: \.isHandled)
            guard result.error != nil || !result.operationErrors.isEmpty else { return result }
            var error =
                result.error
                ?? SyncError(
                    .completedWithErrors, "\(result.operationErrors.count) operations failed and stay in the queue")
            error.operationErrors = result.operationErrors
            error.isServiceThere = result.isServiceThere
            throw error
        }
    }
}
