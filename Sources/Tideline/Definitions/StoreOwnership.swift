internal import Synchronization
internal import TidelineStore

/// Compares the owner of the store with this client before anything is sent, and records it.
final class StoreOwnership<Store: LocalStore>: Sendable {
    let owners: OwnerStore
    private let database: SyncDatabase<Store>
    private let operations: OperationStore
    private let mustRecord = Atomic(true)

    init(_ owners: OwnerStore, of database: SyncDatabase<Store>, operations: OperationStore) {
        self.owners = owners
        self.database = database
        self.operations = operations
    }

    /// Throws unless the store belongs to this client's server and user. Called before anything is sent.
    func confirm() async throws { _ = try await confirm(ofQueue: false) }

    /// Throws unless the store belongs to this client's server and user. Called before operations are sent.
    ///
    /// Pending operations that nobody owns become those of the current user, whether or not the server responds: it may
    /// carry them out.
    func confirmOfQueue() async throws {
        guard try await confirm(ofQueue: true) else { return }
        try await database.writing { [owners] writer in
            var own = owners.own
            own.server = nil
            if let owner = try owners.confirm(own, in: writer) { try owners.save(owner, in: writer) }
        }
    }

    /// Throws if the store belongs to another server or user. Nobody needs to be signed in yet.
    func requireOwn() async throws {
        _ = try await database.reading { [owners] in try owners.confirm(owners.own, in: $0) }
    }

    /// - Returns: Whether there are pending operations that nobody owns.
    private func confirm(ofQueue: Bool) async throws -> Bool {
        let (isNew, isUnowned) = try await database.reading { [owners, operations] reader in
            let owner = try owners.confirm(owners.own, in: reader)
            try owners.requireSignIn(in: reader)
            guard let owner, ofQueue else { return (owner != nil, false) }
            let isUserNew = try !owner.hasSameUser(as: owners.recorded(in: reader))
            return (true, try isUserNew && operations.count(in: reader) > 0)
        }
        if isNew { mustRecord.store(true, ordering: .relaxed) }
        return isUnowned
    }

    /// Records server and user with the first response that a push stores, if they are not recorded yet. An address
    /// that never responds therefore does not become the owner of the store.
    func record(in writer: some StoreWriter) throws {
        if mustRecord.load(ordering: .relaxed) { try confirm(in: writer) }
    }

    /// Notes that a transaction which recorded the owner was committed, so that later ones need not read it.
    func noteRecorded() { mustRecord.store(false, ordering: .relaxed) }

    /// Throws unless the store belongs to this client's server and user, and records them if they are not recorded yet.
    ///
    /// Each transaction of a pull calls it, because another process may empty the store or switch its server during the
    /// pull. No process does so during a push of another one.
    func confirm(in writer: some StoreWriter) throws {
        if let owner = try owners.confirm(owners.own, in: writer) { try owners.save(owner, in: writer) }
    }
}
