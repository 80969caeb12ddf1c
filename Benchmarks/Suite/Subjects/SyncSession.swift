internal import Synchronization
internal import Tideline
public import TidelineStore

/// A sync client over an open store, made when it is first needed.
final class SyncSession<Store: LocalStore>: Sendable {
    private let store: Store
    private let table: String
    private let transport = SyncTransport()
    private let client = Mutex<SyncClient<Store>?>(nil)

    /// The session of a store in which the table is defined.
    init(_ store: Store, table: BenchmarkTable) {
        self.store = store
        self.table = table.schema.name
    }

    /// Does all but ``SyncWork/restart``, which is of the store's session.
    func perform(_ work: SyncWork, noting latencies: LatencySink) throws -> Answer {
        switch work {
        case .connect:
            _ = try connected()
            return Answer()
        case .pull(let server, let pageSize, let pages):
            let settings = PullSettings(pageSize: pageSize, pagesPerTransaction: pages)
            return try pull(.server(server, roundTrip: .zero), settings, latencies)
        case .edit(let edits): return try edit(edits, latencies)
        case .fillQueue(let batches): return try fillQueue(batches)
        case .push(let server, let roundTrip): return try push(.server(server, roundTrip: roundTrip), latencies)
        case .restart: return try start()
        case .serve(let server, let change):
            try server.make(change)
            return Answer()
        case .purge:
            let items = try items
            return try latencies.time { Answer(count: try BlockingTask.run { try await items.purge() }) }
        }
    }

    /// Pulls pages that were recorded before.
    func pull(_ pages: JSONPages, noting latencies: LatencySink) throws -> Answer {
        let count = max(pages.bodies.count, 1)
        let settings = PullSettings(
            pageSize: max((pages.rows + count - 1) / count, 1), pagesPerTransaction: pages.pagesPerTransaction)
        return try pull(.replay(pages.bodies), settings, latencies)
    }

    private func connected() throws -> SyncClient<Store> {
        try client.withLock { client in
            if let client { return client }
            let new = try SyncClient(url: "http://server.test", store: store, transport: transport)
            client = new
            return new
        }
    }

    private var items: SyncTable<Store> { get throws { try connected().table(table) } }

    // MARK: Pull

    private func pull(_ route: SyncTransport.Route, _ settings: PullSettings, _ latencies: LatencySink) throws -> Answer
    {
        let items = try items
        let times = Moments()
        var settings = settings
        settings.onProgress = { _ in times.note() }
        transport.follow(route)
        let start = LatencySink.now
        let result = try BlockingTask.run { [settings] in try await items.pull(queryID: "all", settings: settings) }
        latencies.note(from: start, to: times.list)
        return Answer(count: result.rowsStored + result.rowsRemoved)
    }

    // MARK: The queue

    private func edit(_ edits: [LocalEdit], _ latencies: LatencySink) throws -> Answer {
        let items = try items
        let times = Moments()
        let start = LatencySink.now
        try BlockingTask.run {
            for edit in edits {
                switch edit {
                case .insert(let row): try await items.insert(row)
                case .update(let row): try await items.update(row)
                case .delete(let id): try await items.delete(id: id)
                }
                times.note()
            }
        }
        latencies.note(from: start, to: times.list)
        return Answer(count: edits.count)
    }

    private func push(_ route: SyncTransport.Route, _ latencies: LatencySink) throws -> Answer {
        let context = try connected().context
        transport.follow(route)
        let done = try BlockingTask.run {
            let before = try await context.pendingOperationsCount
            try await context.push()
            return before - (try await context.pendingOperationsCount)
        }
        // From one request to the next all is done that an operation takes; after the last, the count is taken, too.
        if let first = transport.times.first { latencies.note(from: first, to: transport.times.dropFirst()) }
        return Answer(count: done)
    }

    /// What an app does that starts; see ``SyncWork/restart``.
    private func start() throws -> Answer {
        let context = try connected().context
        transport.follow(.lost)
        let pending = try BlockingTask.run {
            let pending = try await context.pendingOperationsCount
            do {
                try await context.push()
            } catch let error as SyncError where error.code == .network {
                // The request was on its way, and that is all that was waited for.
            }
            return pending
        }
        return Answer(count: transport.requests == 0 ? 0 : pending)
    }

    private func fillQueue(_ batches: [RowBatch]) throws -> Answer {
        var ids = batches.flatMap { batch in (0..<batch.packed.count).map { batch.packed.withRow(at: $0) { $0.key } } }
        guard let first = ids.first else { return Answer() }
        for batch in batches { try store.write { try $0.upsert(batch.packed, into: table) } }
        _ = try edit([.update(["id": first.value, "text": "changed"])], LatencySink())
        ids.removeFirst()
        return Answer(count: 1 + (try copyFirstOperation(for: ids)))
    }

    private func copyFirstOperation(for ids: [RowID]) throws -> Int {
        let queue = SystemTables().operations
        return try store.write { writer in
            guard let first = try writer.rows(matching: Query(queue).order(by: "id").limit(1)).rows.first,
                case .int(let number)? = first.key
            else { return 0 }
            let copies = ids.enumerated().map { place, id in
                var copy = first
                copy.key = .int(number + Int64(place) + 1)
                copy["itemId"] = id.value
                copy["itemKey"] = id.value
                return copy
            }
            try writer.upsert(copies, into: queue)
            return copies.count
        }
    }
}

/// Moments, noted by whoever is at work.
private final class Moments: Sendable {
    private let moments = Mutex<[UInt64]>([])

    var list: [UInt64] { moments.withLock { $0 } }

    func note() {
        let now = LatencySink.now
        moments.withLock { $0.append(now) }
    }
}

extension LatencySink {
    /// Notes operations that were done one after the other, by the moments at which each ended.
    fileprivate func note(from start: UInt64, to ends: some Sequence<UInt64>) {
        var start = start
        for end in ends {
            note(nanoseconds: end - start)
            start = end
        }
    }
}

/// What only a sync client does; a subject that is no store throws ``WorkNotApplicable``.
///
/// All works on one opened store are of one client, and of the servers that the works name.
public enum SyncWork: Sendable {
    /// Makes the client, with the tables of its queue, so that the next work need not. The answer is empty.
    case connect
    /// Pulls what the server has, by a query id: all rows first, then what changed since. The answer counts the rows stored
    /// and removed; an operation is a transaction, with what was asked for and parsed for it.
    case pull(SyncServer, pageSize: Int, pagesPerTransaction: Int)
    /// Makes changes as an app does, each in a transaction of its own with its entry in the queue. The answer counts them; an
    /// operation is a change.
    case edit([LocalEdit])
    /// Writes rows and makes an update of each pending: the queue that so many changes would leave, by copies of one operation,
    /// sooner than they would. The answer counts the operations.
    case fillQueue([RowBatch])
    /// Sends all pending operations to the server, each request and its answer taking a time on the way. The answer counts
    /// the operations that are no longer pending; an operation is one of those.
    case push(SyncServer, roundTrip: Duration)
    /// Closes the store, opens it as an app that starts does, makes the client, asks how long the queue is, and pushes until
    /// the first request is on its way, which is lost. The answer is the number of pending operations; an operation is a
    /// start.
    case restart
    /// Puts a server into a state, which is no work of the client's. The answer is empty.
    case serve(SyncServer, SyncServer.Change)
    /// Removes all rows of the table without telling the server. The answer counts them.
    case purge
}

/// A change that an app makes to a local table.
public enum LocalEdit: Sendable {
    /// A new row, as the app has it: without the columns that a server makes.
    case insert(Row)
    /// New values of some columns of a row.
    case update(Row)
    /// The end of a row.
    case delete(id: String)
}
