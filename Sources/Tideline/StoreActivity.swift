internal import Synchronization
internal import TidelineStore

/// What the clients of one store do at the moment: their pushes and pulls.
///
/// The clients of one store object share it, unless the store shares its files with other processes: the lease of a push
/// then excludes all other clients, of this process or another.
final class StoreActivity: Sendable {
    let pushLock = AsyncLock()
    let settled = RecentlyPushedRows()
    private let state = Mutex(State())

    private struct State {
        var inFlight: Set<Int64> = []
        var unavailable: [Int64: Int] = [:]
        /// The locks by the bytes of the table's name. Names that are equal as text can belong to different tables.
        var tableLocks: [RowID: AsyncLock] = [:]
    }

    /// The operations in flight. Only the running push changes it, within write transactions, which exclude each other, so
    /// that a local edit and a push always see the same set, and after a transaction that failed.
    var inFlight: Set<Int64> {
        get { state.withLock { $0.inFlight } }
        set { state.withLock { $0.inFlight = newValue } }
    }

    /// The operations for which the server was not available, with the number of pushes in a row that they ended.
    var unavailable: [Int64: Int] {
        get { state.withLock { $0.unavailable } }
        set { state.withLock { $0.unavailable = newValue } }
    }

    func lock(of table: String) -> AsyncLock {
        state.withLock { state in
            if let lock = state.tableLocks[.string(table)] { return lock }
            let lock = AsyncLock()
            state.tableLocks[.string(table)] = lock
            return lock
        }
    }

    // MARK: Sharing

    private struct Entry {
        weak var activity: StoreActivity?
    }

    /// The activities of stores whose clients share one. A client keeps its activity and its store, so the store of an activity
    /// that exists does, too.
    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// Returns the activity of a store for another client.
    static func shared(of store: some LocalStore) -> StoreActivity {
        guard !store.capabilities.sharesFilesWithProcesses, type(of: store) is AnyClass else { return StoreActivity() }
        let key = ObjectIdentifier(store as AnyObject)
        return entries.withLock { entries in
            if let activity = entries[key]?.activity { return activity }
            let activity = StoreActivity()
            entries = entries.filter { $0.value.activity != nil }
            entries[key] = Entry(activity: activity)
            return activity
        }
    }
}
