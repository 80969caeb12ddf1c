#if Commands
internal import Synchronization
internal import Tideline
internal import TidelineLive
public import TidelineStore

/// A sync client over an open store, created on first use.
final class SyncSession<Store: LocalStore>: Sendable {
    private let store: Store
    private let table: String
    private let transport = SyncTransport()
    private let client = Mutex<SyncClient<Store>?>(nil)
    /// The client of the ``ReplayDialect``.
    private let dialectClient = Mutex<SyncClient<Store>?>(nil)
    private let live: LiveSession<Store>
    /// The live queries of the client.
    private let observed = Mutex<[LiveQuery<Row>.Iterator]>([])

    /// Creates a session for a store in which the table is defined.
    init(_ store: Store, table: BenchmarkTable) {
        self.store = store
        self.table = table.schema.name
        live = LiveSession(store, table: table)
    }

    /// Performs all sync work except reopening the store for ``SyncWork/restart``.
    func perform(_ work: SyncWork, noting latencies: LatencySink) throws -> Answer {
        switch work {
        case .connect:
            _ = try connected()
            return Answer()
        case .pull(let server, let pageSize, let pages):
            let settings = PullSettings(pageSize: pageSize, pagesPerTransaction: pages)
            return try pull(.server(server, roundTrip: .zero), settings, latencies)
        case .replayInDialect(let pages):
            var options = SyncOptions()
            options.dialect = ServerDialect(ReplayDialect())
            return try pull(pages, of: connected(dialectClient, options), noting: latencies)
        case .observe(let queries):
            try observe(queries)
            return Answer()
        case .takeUpdates: return try takeUpdates()
        case .edit(let edits): return try edit(edits, latencies)
        case .fillQueue(let batches, let table): return try fillQueue(batches, of: table ?? self.table)
        case .push(let server, let roundTrip, let maxInFlight):
            return try push(.server(server, roundTrip: roundTrip), maxInFlight: maxInFlight, latencies)
        case .insertAtIntervals(let rows, let pulled): return try insertAtIntervals(rows, pulled, latencies)
        case .restart: return try start()
        case .serve(let server, let change):
            try server.make(change)
            return Answer()
        case .live(let work): return try live.perform(work, noting: latencies)
        case .purge:
            let items = try items
            return try latencies.time { Answer(count: try BlockingTask.run { try await items.purge() }) }
        }
    }

    /// Pulls recorded pages.
    func pull(_ pages: JSONPages, noting latencies: LatencySink) throws -> Answer {
        try pull(pages, of: connected(), noting: latencies)
    }

    private func pull(
        _ pages: JSONPages, of client: SyncClient<Store>, noting latencies: LatencySink
    ) throws -> Answer {
        let count = max(pages.bodies.count, 1)
        let settings = PullSettings(
            pageSize: max((pages.rows + count - 1) / count, 1), pagesPerTransaction: pages.pagesPerTransaction)
        return try pull(.replay(pages.bodies), settings, latencies, by: client)
    }

    private func connected() throws -> SyncClient<Store> { try connected(client, SyncOptions()) }

    private func connected(
        _ client: borrowing Mutex<SyncClient<Store>?>, _ options: SyncOptions
    ) throws -> SyncClient<Store> {
        try client.withLock { client in
            if let client { return client }
            let new = try SyncClient(url: "http://server.test", store: store, transport: transport, options: options)
            client = new
            return new
        }
    }

    private var items: SyncTable { get throws { try connected().table(table) } }

    // MARK: Pull

    private func pull(
        _ route: SyncTransport.Route, _ settings: PullSettings, _ latencies: LatencySink,
        by client: SyncClient<Store>? = nil
    ) throws -> Answer {
        let items = try (client ?? connected()).table(table)
        let times = EventTimes()
        var settings = settings
        settings.onProgress = { _ in times.note() }
        transport.follow(route)
        let start = LatencySink.now
        let result = try BlockingTask.run { [settings] in try await items.pull(queryID: "all", settings: settings) }
        latencies.note(from: start, to: times.list)
        return Answer(count: result.rowsStored + result.rowsRemoved)
    }

    private func observe(_ queries: [TableQuery]) throws {
        let store = try connected().observedStore
        let started = try queries.map { query in
            var updates = store.observe(query).makeAsyncIterator()
            try updates.start(in: store)
            _ = try updates.takeUpdate()
            return updates
        }
        observed.withLock { [started] in $0 = started }
    }

    /// Takes the updates, and does not count their rows: their number depends on the lists of the rows.
    private func takeUpdates() throws -> Answer {
        let count = try observed.withLock { queries in
            try queries.indices.reduce(0) { count, number in
                try queries[number].takeUpdate() == nil ? count : count + 1
            }
        }
        guard count > 0 else { throw BenchmarkError("no live query has an update after the pull") }
        return Answer()
    }

    // MARK: The queue

    private func edit(_ edits: [LocalEdit], _ latencies: LatencySink) throws -> Answer {
        let items = try items
        let times = EventTimes()
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

    /// Inserts the rows of each batch in one transaction.
    func insert(_ batches: [RowBatch], noting latencies: LatencySink) throws -> Answer {
        let (client, table, times) = (try connected(), table, EventTimes())
        let items = client.table(table)
        let start = LatencySink.now
        try BlockingTask.run {
            for batch in batches {
                if batch.rows.count == 1 {
                    try await items.insert(batch.rows[0])
                } else {
                    try await client.transaction { transaction in
                        for row in batch.rows { try transaction.insert(row, into: table) }
                    }
                }
                times.note()
            }
        }
        latencies.note(from: start, to: times.list)
        return Answer(count: batches.reduce(0) { $0 + $1.rows.count })
    }

    /// The time between two inserts of ``SyncWork/insertAtIntervals(_:duringPullFrom:)``.
    private static var interval: Duration { .milliseconds(1) }

    private func insertAtIntervals(
        _ rows: [Row], _ pulled: SyncServer?, _ latencies: LatencySink
    ) throws -> Answer {
        let (items, times) = (try items, EventTimes())
        if let pulled { transport.follow(.server(pulled, roundTrip: .zero)) }
        let answer = try BlockingTask.run {
            guard pulled != nil else {
                for row in rows { try await self.insert(row, times) }
                return Answer(count: rows.count)
            }
            let isOver = EventTimes()
            async let pull = { () async throws in
                defer { isOver.note() }
                return try await items.pull(queryID: "all")
            }()
            // A pull with pending operations would push them first.
            while self.transport.requests == 0, isOver.list.isEmpty { try await Task.sleep(for: Self.interval) }
            for row in rows where isOver.list.isEmpty { try await self.insert(row, times) }
            let result = try await pull
            return Answer(count: result.rowsStored + result.rowsRemoved)
        }
        for time in times.list { latencies.note(nanoseconds: time) }
        return answer
    }

    /// Inserts a row, notes the time it took, and waits for the next insert.
    private func insert(_ row: Row, _ times: EventTimes) async throws {
        let items = try items
        let start = LatencySink.now
        try await items.insert(row)
        times.note(LatencySink.now - start)
        try await Task.sleep(for: Self.interval)
    }

    private func push(
        _ route: SyncTransport.Route, maxInFlight: Int, _ latencies: LatencySink
    ) throws -> Answer {
        let context = try connected().context
        transport.follow(route)
        let done = try BlockingTask.run {
            let before = try await context.pendingOperationsCount
            try await context.push(settings: PushSettings(maxInFlight: maxInFlight))
            return before - (try await context.pendingOperationsCount)
        }
        // After the last request only the count is read. With several requests at a time, the time between two of them
        // is not that of an operation.
        if maxInFlight == 1, let first = transport.times.first {
            latencies.note(from: first, to: transport.times.dropFirst())
        }
        return Answer(count: done)
    }

    /// Performs the startup of an app; see ``SyncWork/restart``.
    private func start() throws -> Answer {
        let context = try connected().context
        transport.follow(.lost)
        let pending = try BlockingTask.run {
            let pending = try await context.pendingOperationsCount
            do {
                try await context.push(settings: PushSettings(maxInFlight: 1))
            } catch let error as SyncError where error.code == .network {
                // The request was sent, which is all that this work waits for.
            }
            return pending
        }
        return Answer(count: transport.requests == 0 ? 0 : pending)
    }

    private func fillQueue(_ batches: [RowBatch], of queued: String) throws -> Answer {
        let ids = batches.flatMap { batch in (0..<batch.packed.count).map { batch.packed.withRow(at: $0) { $0.id } } }
        guard let first = ids.first else { return Answer() }
        for batch in batches { try store.write { try $0.upsert(batch.packed, into: table) } }
        _ = try edit([.update(["id": first.value, "text": "changed"])], LatencySink())
        // The client does not see the copies, which do not come from a client. The next work creates another.
        client.withLock { $0 = nil }
        return Answer(count: try store.copyFirstOperation(for: ids, of: queued))
    }
}

extension LocalStore {
    /// Replaces the only operation of the queue by copies for rows of a table, and returns their number.
    package func copyFirstOperation(for ids: [RowID], of table: String) throws -> Int {
        let queue = SystemTables().operations
        return try write { writer in
            guard let first = try writer.rows(matching: TableQuery(queue).order(by: "id").limit(1)).rows.first,
                case .int(let number)? = first.id
            else { return 0 }
            let copies = ids.enumerated().map { position, id in
                var copy = first
                copy.id = .int(number + Int64(position))
                copy["table"] = .string(table)
                copy["itemId"] = id.value
                copy["itemKey"] = id.value
                return copy
            }
            try writer.upsert(copies, into: queue)
            return copies.count
        }
    }
}

/// The times of events, recorded from any thread.
private final class EventTimes: Sendable {
    private let times = Mutex<[UInt64]>([])

    var list: [UInt64] { times.withLock { $0 } }

    func note(_ time: UInt64 = LatencySink.now) { times.withLock { $0.append(time) } }
}

extension LatencySink {
    /// Records consecutive operations from the times at which they ended.
    fileprivate func note(from start: UInt64, to ends: some Sequence<UInt64>) {
        var start = start
        for end in ends {
            note(nanoseconds: end - start)
            start = end
        }
    }
}

/// Work of a sync client; subjects that are no stores throw ``WorkNotApplicable``.
///
/// The works on an open store share one client.
public enum SyncWork: Sendable {
    /// Creates the client and the tables of its queue. The answer is empty.
    case connect
    /// Pulls with a query identifier: first all rows, later the changes. The answer counts the rows stored and removed.
    /// An operation is a transaction, including the request and the parsing.
    case pull(SyncServer, pageSize: Int, pagesPerTransaction: Int)
    /// Pulls recorded pages as ``Work/pull(_:)`` does, by a client of the ``ReplayDialect``.
    case replayInDialect(JSONPages)
    /// Starts live queries of the client in the place of those before. The answer is empty.
    case observe([TableQuery])
    /// Takes one update of each live query. The answer is empty.
    case takeUpdates
    /// Changes rows as an app does, each in a transaction with its queue entry. The answer counts the changes. An
    /// operation is a change.
    case edit([LocalEdit])
    /// Writes rows and fills the queue with an update of each. It copies one operation, which is faster than that many
    /// updates. The answer counts the operations. If they are of another table, a pull does not push them first.
    case fillQueue([RowBatch], otherTable: String? = nil)
    /// Pushes all pending operations, with a round-trip time for each request. The answer counts the operations that
    /// are no longer pending. An operation is one of these; with more than one in flight, none is recorded.
    case push(SyncServer, roundTrip: Duration, maxInFlight: Int = 1)
    /// Inserts rows, one every millisecond: all of them, or as many as fit into a pull from a server, which runs
    /// meanwhile. The answer counts the rows inserted, or those that the pull stored. An operation is an insert.
    case insertAtIntervals([Row], duringPullFrom: SyncServer?)
    /// Reopens the store as an app does at launch, creates the client, reads the length of the queue, and pushes until
    /// the first request is sent, which is lost. The answer counts the pending operations. An operation is a start.
    case restart
    /// Changes the state of a server. The answer is empty.
    case serve(SyncServer, SyncServer.Change)
    /// Removes all rows of the local table. The answer counts them.
    case purge
    /// Changes rows under live queries, without a client.
    case live(LiveWork)
}

/// A change that an app makes in a local table.
public enum LocalEdit: Sendable {
    /// Inserts a row without the server's columns.
    case insert(Row)
    /// Updates some columns of a row.
    case update(Row)
    /// Deletes a row.
    case delete(id: String)
}
#endif
