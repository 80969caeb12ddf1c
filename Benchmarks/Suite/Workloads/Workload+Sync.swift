#if Commands
internal import TidelineStore

extension Workload {
    /// The workloads of a sync client and of JSON parsing. With more than ``maxSyncRows`` rows they would all be the
    /// same, so only the smallest such number of rows has them.
    static func syncWorkloads(_ settings: BenchmarkSettings, rows: Int) -> [Workload] {
        let isRepeated = settings.rows.contains(rows) && settings.rows.contains { $0 >= maxSyncRows && $0 < rows }
        guard !isRepeated else { return [] }
        let run = SyncRun(settings, rows: min(rows, maxSyncRows))
        return run.replays + [run.dialectReplay, run.pendingReplay] + run.pulls + run.edits + run.pushes + run.queue
            + run.json
    }

    /// The maximum number of rows of a server: the cost of a row does not depend on their number, and the pages of ten
    /// million rows do not fit in memory.
    static let maxSyncRows = 100_000
}

/// The state that the sync workloads of a run share.
private struct SyncRun: Sendable {
    let server: SyncServer
    let source: RowSource
    /// The table of the source with an index.
    let indexedTable: BenchmarkTable
    let rows: Int

    init(_ settings: BenchmarkSettings, rows: Int) {
        self.rows = rows
        source = settings.source(rows: rows)
        indexedTable = settings.source(rows: rows, isIndexed: true).table
        server = SyncServer(source, rows: rows)
    }

    private static let shapes = [(size: 100, pages: 1), (100, 8), (1000, 1), (1000, 8)]

    private var start: Workload.Start { .empty(source.table) }

    /// Prepares a client that has pulled all rows.
    private var pulled: [Work] {
        [.sync(.serve(server, .reset)), .sync(.connect), .sync(.pull(server, pageSize: 1000, pagesPerTransaction: 8))]
    }

    // MARK: Pull

    /// Pulls of recorded pages, which measure the client alone.
    var replays: [Workload] {
        Self.shapes.map { size, pages in
            Workload(
                "pull-replay-\(size)x\(pages)", .sync, "pull of recorded pages, \(Self.title(size, pages))",
                explanation: """
                    Parses and stores the recorded pages of a first pull, with the token: the cost of the client without \
                    server and network.
                    """,
                unit: "row", units: rows, isQuick: size == 1000, start: start,
                // An empty pull creates the tables or files that a subject needs.
                prepare: { [.pull(JSONPages(bodies: [], rows: 0))] },
                steps: [{ [server] in [.pull(try server.pages(of: size, perTransaction: pages))] }])
        }
    }

    /// The pull `pull-replay-1000x1` through a custom dialect.
    var dialectReplay: Workload {
        Workload(
            "pull-replay-dialect", .sync, "pull of recorded pages of 1000, through a custom dialect",
            explanation: """
                Parses and stores the same pages as pull-replay-1000x1, which a dialect of the app reads. The difference is the \
                cost of the seam.
                """,
            unit: "row", units: rows, start: start,
            prepare: { [.sync(.replayInDialect(JSONPages(bodies: [], rows: 0)))] },
            steps: [{ [server] in [.sync(.replayInDialect(try server.pages(of: 1000)))] }])
    }

    /// A pull beside a long queue, after its first two pages, with which the client learns the queue.
    var pendingReplay: Workload {
        let (size, length) = (min(max(rows / 20, 1), 100), min(5 * rows, 10_000))
        let count = (rows + size - 1) / size
        let learning = min(2, count - 1)
        let pages: @Sendable (Range<Int>) throws -> JSONPages = { [server, rows] range in
            JSONPages(
                bodies: Array(try server.pages(of: size).bodies[range]),
                rows: min(size * range.upperBound, rows) - size * range.lowerBound)
        }
        return Workload(
            "pull-pending", .sync, "pull of recorded pages of \(size) beside \(length) pending operations",
            explanation: "Parses and stores recorded pages while operations of other rows are pending.",
            unit: "row", units: rows - learning * size, start: start,
            prepare: { [source, rows] in
                let others = try source.batches(rows..<rows + length, of: 1000)
                return [.sync(.fillQueue(others, otherTable: "Other")), .pull(try pages(0..<learning))]
            },
            steps: [{ [.pull(try pages(learning..<count))] }])
    }

    /// Pulls from a server.
    var pulls: [Workload] {
        Self.shapes.map { size, pages in
            Workload(
                "pull-initial-\(size)x\(pages)", .sync, "first pull, \(Self.title(size, pages))",
                explanation: """
                    Pulls all rows from a table service in the same process, which answers the next page while the client \
                    stores the last: requests, JSON and storing, without the network.
                    """,
                unit: "row", units: rows, start: start,
                prepare: { [server] in [.sync(.serve(server, .reset)), .sync(.connect)] },
                steps: [{ [server] in [.sync(.pull(server, pageSize: size, pagesPerTransaction: pages))] }])
        } + [indexed(liveQueries: 0), indexed(liveQueries: 10), incremental, nothing]
    }

    /// The pull `pull-initial-1000x8` into a table with an index, under live queries.
    private func indexed(liveQueries count: Int) -> Workload {
        let table = indexedTable
        let queries = (0..<count).map { source.filter($0).query(table).limit(50) }
        return Workload(
            count == 0 ? "pull-indexed-1000x8" : "pull-live-1000x8", .sync,
            "first pull, pages of 1000, 8 in a transaction, \(count == 0 ? "with an index" : "\(count) live queries")",
            explanation: count == 0
                ? "Pulls all rows into a table with an index. Compare it with pull-live-1000x8."
                : """
                Pulls all rows while the client has live queries of up to 50 rows, which an index finds, and takes their updates \
                at the end.
                """,
            unit: "row", units: rows, start: .empty(table),
            prepare: { [server] in [.sync(.serve(server, .reset)), .sync(.connect), .sync(.observe(queries))] },
            steps: [{ [server] in [.sync(.pull(server, pageSize: 1000, pagesPerTransaction: 8))] }]
                + (count == 0 ? [] : [{ [.sync(.takeUpdates)] }]),
            restore: { [.sync(.observe([]))] })
    }

    private var incremental: Workload {
        let changed = max(rows / 100, 1)
        return Workload(
            "pull-incremental", .sync, "pull of 1 % that changed",
            explanation: "Pulls the 1 % of the client's rows that other clients changed, in pages of 1000.",
            unit: "row", units: changed, start: start,
            prepare: { [server, pulled] in pulled + [.sync(.serve(server, .others(changed)))] },
            steps: [{ [server] in [.sync(.pull(server, pageSize: 1000, pagesPerTransaction: 1))] }],
            restore: { [server] in [.sync(.serve(server, .reset))] })
    }

    private var nothing: Workload {
        let pull = Work.sync(.pull(server, pageSize: 1000, pagesPerTransaction: 1))
        return Workload(
            "pull-nothing", .sync, "pull with nothing new",
            explanation: "The client has all rows; each pull is one request, and its response has nothing to store.",
            unit: "pull", units: 20, start: start, prepare: { [pulled] in pulled },
            steps: Array(repeating: { [pull] }, count: 20))
    }

    private static func title(_ size: Int, _ pages: Int) -> String {
        pages == 1 ? "pages of \(size), a transaction each" : "pages of \(size), \(pages) in a transaction"
    }

    // MARK: Local edits

    var edits: [Workload] {
        [
            mixedEdits, inserts("local-inserts", min(rows, 1000), of: 1),
            inserts("local-inserts-1000", min(rows, 10_000), of: 1000), insertsAtIntervals(besidePull: false),
            insertsAtIntervals(besidePull: true),
        ]
    }

    /// Inserts of rows that are not among the first of the source.
    private func inserts(_ id: String, _ count: Int, of size: Int) -> Workload {
        let title = size == 1 ? "each in its own transaction" : "\(size) a transaction"
        let new = rows..<rows + count
        return Workload(
            id, .sync, "local inserts, with their operations, \(title)",
            explanation: """
                Inserts new rows into a table with \(rows) rows, each with its entry in the queue, \(title). In C, puts the row \
                and an entry of the same columns, without lookups.
                """,
            unit: "row", units: count, isQuick: true, start: start,
            // The first insert creates the client.
            prepare: { [source, rows] in
                [.upsert(try source.batches(0..<rows, of: 1000))]
                    + [.insertLocally(try source.newBatches(new.upperBound..<new.upperBound + 1, of: 1))]
            },
            steps: [{ [source] in [.insertLocally(try source.newBatches(new, of: size))] }])
    }

    /// Inserts whose latency, not their time, is of interest.
    private func insertsAtIntervals(besidePull: Bool) -> Workload {
        let new = rows..<rows + (besidePull ? max(rows / 10, 100) : min(rows, 1000))
        return Workload(
            besidePull ? "insert-beside-pull" : "insert-idle", .sync,
            besidePull ? "pull of all rows beside local inserts" : "local inserts at intervals",
            explanation: besidePull
                ? "Inserts a row each millisecond while a pull stores all rows. The latencies are those of the inserts."
                : "Inserts a row each millisecond. The latencies are those of the inserts; the time includes the waits.",
            unit: "row", units: besidePull ? rows : new.count, hasFixedRows: !besidePull, start: start,
            prepare: { [server] in [.sync(.serve(server, .reset)), .sync(.connect)] },
            steps: [
                { [server, source] in
                    let rows = new.map { source.newRow($0) }
                    return [.sync(.insertAtIntervals(rows, duringPullFrom: besidePull ? server : nil))]
                }
            ])
    }

    private var mixedEdits: Workload {
        let edits = LocalEdit.mix(1000, of: source, rows: rows)
        return Workload(
            "local-edits", .sync, "local edits, with their operations",
            explanation: """
                Of ten edits six update a row, three insert one, and one deletes one, each in a transaction with its entry in \
                the queue.
                """,
            unit: "edit", units: edits.count, isQuick: true, start: start,
            prepare: { [source, rows] in [.sync(.connect), .upsert(try source.batches(0..<rows, of: 1000))] },
            steps: [{ [.sync(.edit(edits))] }])
    }

    // MARK: The queue

    var pushes: [Workload] {
        [
            push("push-rtt0", .zero, 1000), push("push-rtt20", .milliseconds(20), 100),
            push("push-rtt20x8", .milliseconds(20), 800, maxInFlight: 8),
        ]
    }

    var queue: [Workload] { [restart, purge] }

    private func push(_ id: String, _ roundTrip: Duration, _ count: Int, maxInFlight: Int = 1) -> Workload {
        let edits = LocalEdit.mix(count, of: source, rows: rows)
        let time = roundTrip == .zero ? "0 ms" : "\(Int(roundTrip / .milliseconds(1))) ms"
        return Workload(
            id, .sync, "push, \(maxInFlight) at a time, round trip of \(time)",
            explanation: """
                Sends pending edits to a table service in the same process, \(maxInFlight) at a time, with a round-trip time \
                of \(time) for each request, and commits each response.
                """,
            // With several at a time, the order in which the server assigns versions differs.
            unit: "operation", units: edits.count, hasFixedRows: maxInFlight == 1, start: start,
            prepare: { [server, pulled] in
                pulled + [.sync(.edit(edits)), .sync(.serve(server, .expectEdits(count)))]
            },
            steps: [{ [server] in [.sync(.push(server, roundTrip: roundTrip, maxInFlight: maxInFlight))] }],
            restore: { [server] in [.sync(.serve(server, .reset))] })
    }

    private var restart: Workload {
        let count = min(10_000, rows)
        return Workload(
            "restart-queue", .sync, "restart with \(count) pending operations",
            explanation: """
                Opens the store, creates the client, reads the length of the queue, and waits until the request of the first \
                pending operation is sent.
                """,
            unit: "start", units: 1, start: start,
            prepare: { [source] in [.sync(.connect), .sync(.fillQueue(try source.batches(0..<count, of: 1000)))] },
            steps: [{ [.sync(.restart)] }])
    }

    private var purge: Workload {
        Workload(
            "purge", .sync, "purge of the table",
            explanation: "Removes all rows, with the token of their pull, in one transaction.",
            unit: "row", units: rows, start: start, prepare: { [pulled] in pulled }, steps: [{ [.sync(.purge)] }])
    }

    // MARK: JSON

    var json: [Workload] {
        [
            Workload(
                "json-parse", .json, "pages of 1000 rows to rows",
                explanation: """
                    Parses the pages of a pull to rows and reads every value. Foundation's parsers produce dictionaries, and \
                    values of a Codable type.
                    """,
                unit: "row", units: rows, field: .json, isQuick: true, start: start,
                steps: [{ [server] in [.parse(try server.pages(of: 1000))] }])
        ]
    }
}
#endif
