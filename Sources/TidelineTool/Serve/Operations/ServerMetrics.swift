#if Serve
internal import HTTPTypes
internal import Metrics
internal import Synchronization

/// The metrics of a server.
///
/// Their number is bounded: other methods than those of the protocol are grouped, and of the tables, the first hundred
/// that requests have found have metrics of their own. All others share the empty name.
final class ServerMetrics: Sendable {
    private struct Series: Hashable {
        var method: String
        var status: Int
        var table: String
    }

    private struct State {
        var tables: Set<String> = []
        var requests: [Series: Counter] = [:]
        var rowsWritten: [String: Counter] = [:]

        /// Returns the name of a table in metrics.
        mutating func known(_ table: String) -> String {
            guard tables.contains(table) || tables.count < ServerMetrics.maximumTables else { return "" }
            tables.insert(table)
            return table
        }
    }

    static let maximumTables = 100
    private static let methods: Set<String> = ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD"]
    /// The texts of the page by the names of the metrics.
    static let descriptions = [
        "tideline_requests_total": "Responses by method, status, and table.",
        "tideline_rows_written_total": "Inserted, changed, and deleted rows by table.",
        "tideline_errors_total": "Responses that report a failure of the store or the server.",
        "tideline_request_duration_seconds": "The time from the headers of a request to its response.",
        "tideline_writes_per_transaction": "The writes that were committed together.",
        "tideline_connections": "Open connections.",
        "tideline_connections_total": "Connections that were accepted.",
        "tideline_connections_refused_total": "Connections beyond a limit.",
        "tideline_waiting_clients": "Clients that wait for changes.",
    ]

    private let factory: any MetricsFactory
    private let state = Mutex(State())
    private let errors: Counter
    private let durations: Timer
    private let groups: Recorder
    private let waitingClients: Meter

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        errors = Counter(label: "tideline_errors_total", factory: factory)
        durations = Timer(label: "tideline_request_duration_seconds", factory: factory)
        groups = Recorder(label: "tideline_writes_per_transaction", factory: factory)
        waitingClients = Meter(label: "tideline_waiting_clients", factory: factory)
    }

    /// Records a response.
    /// - Parameter table: The table of the request, if it is known to exist.
    func answered(_ method: HTTPRequest.Method, _ status: Int, table: String?, after duration: Duration) {
        let name = Self.methods.contains(method.rawValue) ? method.rawValue : "other"
        let isWrite = !["GET", "HEAD", "other"].contains(name) && status / 100 == 2 && table != nil
        let (requests, rows) = state.withLock { state in
            let table = table.map { state.known($0) } ?? ""
            let series = Series(method: name, status: status, table: table)
            let requests = state.requests[series] ?? counter(series)
            state.requests[series] = requests
            guard isWrite else { return (requests, nil as Counter?) }
            let rows = state.rowsWritten[table] ?? rowCounter(table)
            state.rowsWritten[table] = rows
            return (requests, rows)
        }
        requests.increment()
        rows?.increment()
        if status >= 500 { errors.increment() }
        durations.record(duration: duration)
    }

    private func counter(_ series: Series) -> Counter {
        Counter(
            label: "tideline_requests_total",
            dimensions: [
                ("method", series.method), ("status", "\(series.status)"), ("table", series.table),
            ], factory: factory)
    }

    private func rowCounter(_ table: String) -> Counter {
        Counter(label: "tideline_rows_written_total", dimensions: [("table", table)], factory: factory)
    }

    /// Records the number of writes in a transaction.
    func committed(_ count: Int) { groups.record(count) }

    /// Records the number of clients that wait for changes.
    func waiting(_ count: Int) { waitingClients.set(count) }
}
#endif
