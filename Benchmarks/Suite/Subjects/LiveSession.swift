#if Commands
internal import Synchronization
internal import TidelineLive
public import TidelineStore

/// The live queries of an open store.
final class LiveSession<Store: LocalStore>: Sendable {
    private let table: String
    private let store: ObservedStore<Store>
    private let running = Mutex(Running())

    private struct Running {
        var others: [LiveQuery<Row>.Iterator] = []
        var watched: LiveQuery<Row>.Iterator?
    }

    init(_ store: Store, table: BenchmarkTable) {
        self.table = table.schema.name
        self.store = ObservedStore(store)
    }

    func perform(_ work: LiveWork, noting latencies: LatencySink) throws -> Answer {
        switch work {
        case .start(let others, let watched):
            try start(others, watched)
            return Answer()
        case .commit(let rows): return try commit(rows, latencies)
        case .stop:
            running.withLock { $0 = Running() }
            return Answer()
        }
    }

    private func start(_ others: [TableQuery], _ watched: TableQuery?) throws {
        let queries = try others.map { try started($0) }
        var first = try watched.map { try started($0) }
        _ = try first?.takeUpdate()
        running.withLock { [first] in $0 = Running(others: queries, watched: first) }
    }

    private func started(_ query: TableQuery) throws -> LiveQuery<Row>.Iterator {
        var updates = store.observe(query).makeAsyncIterator()
        try updates.start(in: store)
        return updates
    }

    private func commit(_ rows: [Row], _ latencies: LatencySink) throws -> Answer {
        var watched = running.withLock { running in
            defer { running.watched = nil }
            return running.watched
        }
        let isWatching = watched != nil
        let answer = try latencies.each(rows) { row in
            try store.write { try $0.upsert(row, into: table) }
            guard isWatching else { return Answer(count: 1) }
            return Answer(count: try watched?.takeUpdate() == nil ? 0 : 1)
        }
        running.withLock { [watched] in $0.watched = watched }
        return answer
    }
}

/// Work under live queries. The works on an open store share one set of queries.
public enum LiveWork: Sendable {
    /// Starts live queries, one of which is read after each commit. The answer is empty.
    case start([TableQuery], watched: TableQuery?)
    /// Changes rows, each in its own transaction, and takes the update of the query that is read. The answer counts the
    /// changes, or the updates. An operation is a change.
    case commit([Row])
    /// Ends the live queries. The answer is empty.
    case stop
}
#endif
