internal import Dispatch
internal import GRDB
internal import Synchronization
internal import TidelineBenchmark
internal import TidelineStore

/// The value observations of an open database, in place of live queries.
///
/// A commit fetches each observed request again, after the write has returned. A commit is therefore measured until all
/// observations have delivered the rows that they fetched after it, which is when Tideline's live queries are up to
/// date.
final class LiveObservations<Style: GRDBStyle>: Sendable {
    private let pool: DatabasePool
    private let deliveries = Deliveries()
    private let running = Mutex<[AnyDatabaseCancellable]>([])
    /// The queue that receives the rows, as an app's main queue.
    private let queue = DispatchQueue(label: "observations")

    /// The maximum time for fetching all requests once. With a thousand commits, an iteration then takes minutes.
    private static var maxFetch: Duration { .milliseconds(500) }

    init(_ pool: DatabasePool) { self.pool = pool }

    func perform(_ work: LiveWork, noting latencies: LatencySink) throws -> Answer {
        switch work {
        case .start(let others, let watched):
            try start(others + (watched.map { [$0] } ?? []))
            return Answer()
        case .commit(let rows):
            return try latencies.each(rows) { row in
                deliveries.expect(from: running.withLock { $0.count })
                try pool.write { try Self.update(row, $0) }
                try deliveries.wait()
                return Answer(count: 1)
            }
        case .stop:
            stop()
            return Answer()
        }
    }

    func stop() {
        running.withLock { observations in
            for observation in observations { observation.cancel() }
            observations = []
        }
    }

    private func start(_ queries: [TableQuery]) throws {
        var time = Duration.zero
        for (position, query) in queries.enumerated() {
            let request = try LiveRequest(query)
            let clock = ContinuousClock()
            time += try clock.measure { _ = try pool.read { try Style.items(request, $0) } }
            guard time < Self.maxFetch else {
                stop()
                throw WorkNotApplicable(
                    "each commit would fetch \(queries.count) requests again, of which \(position + 1) take \(time)")
            }
            try start(request)
        }
    }

    /// Starts an observation and waits until it observes the database, after its initial fetches.
    private func start(_ request: LiveRequest) throws {
        let isObserving = DispatchSemaphore(value: 0)
        let deliveries = deliveries
        let observation = ValueObservation.trackingConstantRegion { db in
            (commit: deliveries.commit, items: try Style.items(request, db))
        }
        .handleEvents(willTrackRegion: { _ in isObserving.signal() })
        .start(
            in: pool, scheduling: .async(onQueue: queue),
            onError: { error in
                deliveries.fail(error)
                isObserving.signal()
            },
            onChange: { deliveries.receive(of: $0.commit) })
        running.withLock { $0.append(observation) }
        isObserving.wait()
        try deliveries.check()
    }

    private static func update(_ row: TidelineStore.Row, _ db: Database) throws {
        let values = row.values
        let columns = values.map { "\($0.name) = ?" }.joined(separator: ", ")
        let statement = try db.cachedStatement(sql: "UPDATE items SET \(columns) WHERE id = ?")
        try statement.execute(
            arguments: StatementArguments(try values.map { try $0.value.argument } + [row.idText]))
    }
}

/// A request for the rows of a query.
struct LiveRequest: Sendable {
    let sql: String
    let arguments: StatementArguments

    /// Converts a query.
    ///
    /// - Throws: ``WorkNotApplicable`` for a condition that no workload has.
    init(_ query: TableQuery) throws {
        var arguments: [any DatabaseValueConvertible] = []
        var sql = "SELECT * FROM items"
        if let predicate = query.predicate { sql += " WHERE " + (try Self.condition(predicate, &arguments)) }
        if !query.order.isEmpty {
            let terms = query.order.map { $0.isDescending ? "\($0.column) DESC" : $0.column }
            sql += " ORDER BY " + terms.joined(separator: ", ")
        }
        if let limit = query.limit {
            sql += " LIMIT ?"
            arguments.append(limit)
        }
        self.sql = sql
        self.arguments = StatementArguments(arguments)
    }

    private static func condition(
        _ predicate: RowPredicate, _ arguments: inout [any DatabaseValueConvertible]
    ) throws -> String {
        switch predicate {
        case .and(let terms) where !terms.isEmpty:
            return try terms.map { try condition($0, &arguments) }.joined(separator: " AND ")
        case .comparison(.equal, .column(let column), .literal(.null)): return "\(column) IS NULL"
        case .comparison(let comparison, .column(let column), .literal(let value)):
            arguments.append(try value.argument)
            switch comparison {
            case .equal: return "\(column) = ?"
            case .greaterOrEqual: return "\(column) >= ?"
            case .lessOrEqual: return "\(column) <= ?"
            case .notEqual, .less, .greater: break
            }
        default: break
        }
        throw WorkNotApplicable("not implemented for GRDB")
    }
}

extension Value {
    /// The value as an argument of a statement.
    fileprivate var argument: any DatabaseValueConvertible {
        get throws {
            switch self {
            case .string(let text): text
            case .int(let integer): integer
            case .double(let double): double
            case .null, .bool, .timestamp, .bytes, .json: throw WorkNotApplicable("not implemented for GRDB")
            }
        }
    }
}

/// Counts the observations that have delivered the rows of the last commit.
private final class Deliveries: Sendable {
    private struct State {
        var commit = 0
        var expected = 0
        var error: (any Error)?
    }

    private let state = Mutex(State())
    private let isComplete = DispatchSemaphore(value: 0)

    /// The number of the last commit. The fetches for a commit begin after it and end before the next.
    var commit: Int { state.withLock { $0.commit } }

    /// Begins a commit that a number of observations deliver.
    func expect(from count: Int) {
        state.withLock {
            $0.commit += 1
            $0.expected = count
        }
        if count == 0 { isComplete.signal() }
    }

    /// Waits until all observations have delivered.
    func wait() throws {
        isComplete.wait()
        try check()
    }

    func check() throws {
        if let error = state.withLock({ $0.error }) { throw error }
    }

    /// Counts the delivery of rows that were fetched after a commit. Those of an initial fetch do not count.
    func receive(of commit: Int) {
        let isLast = state.withLock { state in
            guard commit == state.commit, state.expected > 0 else { return false }
            state.expected -= 1
            return state.expected == 0
        }
        if isLast { isComplete.signal() }
    }

    func fail(_ error: any Error) {
        state.withLock { $0.error = error }
        isComplete.signal()
    }
}
