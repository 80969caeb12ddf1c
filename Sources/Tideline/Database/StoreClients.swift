internal import Synchronization
internal import TidelineStore

/// State that the clients of one store object share. They push one at a time, and notice each other's writes.
///
/// For clients over other store objects with the same files, a ``PushLease`` and the store's external commit number do
/// the same.
final class StoreClients: Sendable {
    let pushLock = AsyncLock()
    let recentlyPushed = RecentlyPushedRows()
    /// The running syncs of the clients.
    let syncs = StoreObservers()
    private let state = Mutex(State())

    private struct State {
        var inFlight: Set<Int64> = []
        var unavailable: [Int64: Int] = [:]
        var writes: UInt64 = 0
    }

    /// The operations in flight. Only the running push changes it, within write transactions, which exclude each other,
    /// so that a local edit and a push always see the same set, and after a transaction that failed.
    var inFlight: Set<Int64> {
        get { state.withLock { $0.inFlight } }
        set { state.withLock { $0.inFlight = newValue } }
    }

    /// The operations for which the server was not available, with the number of pushes in a row that they ended.
    var unavailable: [Int64: Int] {
        get { state.withLock { $0.unavailable } }
        set { state.withLock { $0.unavailable = newValue } }
    }

    /// The number of write transactions that the clients have begun.
    var writes: UInt64 { state.withLock { $0.writes } }

    /// Counts a write transaction. Call it within the transaction.
    func noteWrite() { state.withLock { $0.writes += 1 } }

    // MARK: Sharing

    private struct Entry {
        weak var clients: StoreClients?
    }

    /// A client keeps its store, so the store of an entry that is not empty exists.
    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// Returns what a new client shares with the others of a store object. A store that is a value has no others.
    static func sharing(_ store: ObjectIdentifier?) -> StoreClients {
        guard let store else { return StoreClients() }
        return entries.withLock { entries in
            if let clients = entries[store]?.clients { return clients }
            let clients = StoreClients()
            entries = entries.filter { $0.value.clients != nil }
            entries[store] = Entry(clients: clients)
            return clients
        }
    }
}

/// Calls the running syncs of the clients of a store after changes that they did not make.
final class StoreObservers: Sendable {
    /// A change of the store.
    enum Change: Sendable, Hashable {
        /// Rows were edited locally.
        case edit
        /// Pulls begin with the first row again: those of a table, or all (`nil`) of a store that was emptied.
        case reset(table: String?)
    }

    typealias Observer = @Sendable (Change) -> Void

    private let observers = Mutex<[ObjectIdentifier: Observer]>([:])

    /// Sets the closure that is called for an object until it is set to `nil`.
    func observe(for object: AnyObject, _ observer: Observer?) {
        observers.withLock { $0[ObjectIdentifier(object)] = observer }
    }

    func notify(of change: Change) {
        for observer in observers.withLock({ $0 }).values { observer(change) }
    }
}
