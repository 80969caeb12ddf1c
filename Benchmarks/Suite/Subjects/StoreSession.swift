#if Commands
internal import Synchronization
internal import TidelineStore

/// A session of a local store, used for speed: large transactions, rows read in place, and columns resolved once.
final class StoreSession<Store: LocalStore>: BenchmarkSession {
    /// An open store and the resolved properties of its table.
    struct Opened: Sendable {
        let store: Store
        let shape: RowShape
        let columns: BenchmarkColumns
        let sync: SyncSession<Store>
    }

    let table: BenchmarkTable
    private let opened: Mutex<Opened>
    private let reopening: @Sendable () throws -> Store

    /// Creates a session and defines the table in the open store.
    init(_ store: Store, table: BenchmarkTable, reopening: @escaping @Sendable () throws -> Store) throws {
        self.table = table
        self.reopening = reopening
        opened = Mutex(try Self.define(table, in: store))
    }

    private static func define(_ table: BenchmarkTable, in store: Store) throws -> Opened {
        do {
            try store.define([table.schema])
            let shape = try store.read { try $0.shape(of: table.schema.name) }
            return Opened(
                store: store, shape: shape, columns: try BenchmarkColumns(shape), sync: SyncSession(store, table: table)
            )
        } catch {
            try? store.close()
            throw error
        }
    }

    /// The store that is currently open.
    var now: Opened { opened.withLock { $0 } }

    func perform(_ work: Work, noting latencies: LatencySink) throws -> Answer {
        let now = now
        return switch work {
        case .reopen(let times, let id): try reopen(times: times, reading: id, latencies)
        case .upsert(let batches): try upsert(batches, now, latencies)
        case .upsertRows(let batches): try upsertRows(batches, now, latencies)
        case .upsertRecords(let batches): try upsertRecords(batches, now, latencies)
        case .get(let ids, let access, .each): try getEach(ids, access, now, latencies)
        case .get(let ids, let access, .one): try getInOne(ids, access, now, latencies)
        case .scan(let access): try scan(access, now, latencies)
        case .find(let filters, let limit): try find(filters, limit: limit, now, latencies)
        case .count(let filters): try count(filters, now, latencies)
        case .delete(let lists): try delete(lists, now, latencies)
        case .deleteMatching(let filters): try delete(matching: filters, now, latencies)
        case .mix(let steps): try mix(steps, now, latencies)
        case .pull(let pages): try now.sync.pull(pages, noting: latencies)
        case .insertLocally(let batches): try now.sync.insert(batches, noting: latencies)
        case .sync(let work): try sync(work, now, latencies)
        case .parse: throw WorkNotApplicable("a store parses no JSON")
        }
    }

    func close() throws { try now.store.close() }

    /// Closes and opens the store as an app does at launch: defines the table and reads a row.
    private func reopen(times: Int, reading id: RowID, _ latencies: LatencySink) throws -> Answer {
        guard now.store.capabilities.isPersistent else { throw WorkNotApplicable("in memory only") }
        var answer = Answer()
        for _ in 0..<times {
            try now.store.close()
            try latencies.time {
                let new = try openAgain()
                try new.store.read { try get(id, .view, new.columns, $0, &answer) }
            }
        }
        return answer
    }

    /// Opens the closed store again.
    func openAgain() throws -> Opened {
        let new = try Self.define(table, in: try reopening())
        opened.withLock { $0 = new }
        return new
    }
}
#endif
