internal import HTTPTypes
internal import Synchronization

/// The counters of a server, as a page in the text format of Prometheus.
///
/// The number of series is bounded: methods and status codes are grouped, and of the tables, the first hundred that
/// requests have found have series of their own.
final class ServerMetrics: Sendable {
    fileprivate struct Series: Hashable {
        var method: Int
        /// The first digit of the status.
        var status: Int
        var table: Int
    }

    fileprivate struct Histogram {
        var counts: [Int]
        var sum = 0.0

        init(_ bounds: [Double]) { counts = Array(repeating: 0, count: bounds.count + 1) }

        mutating func add(_ value: Double, _ bounds: [Double]) {
            counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
            sum += value
        }
    }

    fileprivate struct State {
        var requests: [Series: Int] = [:]
        var rowsWritten: [Int: Int] = [:]
        var storeErrors = 0
        /// The positions of the tables' names. Position 0 is that of all other tables and of requests without a table.
        var tables: [String: Int] = [:]
        var durations = Histogram(ServerMetrics.durationBounds)
        var groups = Histogram(ServerMetrics.groupBounds)
    }

    /// In seconds.
    fileprivate static let durationBounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    fileprivate static let groupBounds: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    private static let methods = ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "other"]
    static let maximumTables = 100

    private let state = Mutex(State())
    private let connections: ConnectionCounts

    init(connections: ConnectionCounts) { self.connections = connections }

    // MARK: Recording

    /// Records a response.
    /// - Parameter table: The table of the request, if it is known to exist.
    func answered(_ method: HTTPRequest.Method, _ status: Int, table: String?, after duration: Duration) {
        let number = Self.methods.firstIndex(of: method.rawValue) ?? Self.methods.count - 1
        let isWrite = (1...4).contains(number) && status / 100 == 2
        state.withLock { state in
            let table = table.map { state.position(of: $0) } ?? 0
            state.requests[Series(method: number, status: status / 100, table: table), default: 0] += 1
            if isWrite { state.rowsWritten[table, default: 0] += 1 }
            if status >= 500 { state.storeErrors += 1 }
            state.durations.add(duration / .seconds(1), Self.durationBounds)
        }
    }

    /// Records the number of writes in a transaction.
    func committed(_ count: Int) {
        state.withLock { $0.groups.add(Double(count), Self.groupBounds) }
    }

    // MARK: The page

    /// Returns the page for a request of a Prometheus server.
    ///
    /// - Parameter waitingClients: The number of clients that wait for changes.
    func page(waitingClients: Int) -> String {
        let state = state.withLock { $0 }
        let names = Dictionary(uniqueKeysWithValues: state.tables.map { ($1, $0) })
        func table(_ position: Int) -> String { Self.escaped(names[position] ?? "") }
        var page = Page()
        page.begin("tideline_requests_total", "counter", "Responses by method, class of status, and table.")
        for (series, count) in state.requests.sorted(by: { Self.isBefore($0.key, $1.key) }) {
            page.sample(
                "{method=\"\(Self.methods[series.method])\",status=\"\(series.status)xx\",table=\"\(table(series.table))\"}",
                count)
        }
        page.begin("tideline_rows_written_total", "counter", "Inserted, changed, and deleted rows by table.")
        for (position, count) in state.rowsWritten.sorted(by: { $0.key < $1.key }) {
            page.sample("{table=\"\(table(position))\"}", count)
        }
        page.begin("tideline_errors_total", "counter", "Responses that report a failure of the store or the server.")
        page.sample("", state.storeErrors)
        page.begin(
            "tideline_request_duration_seconds", "histogram", "The time from the headers of a request to its response.")
        page.histogram(state.durations.counts, state.durations.sum, Self.durationBounds)
        page.begin("tideline_writes_per_transaction", "histogram", "The writes that were committed together.")
        page.histogram(state.groups.counts, state.groups.sum, Self.groupBounds)
        let counts = connections.counts
        page.begin("tideline_connections", "gauge", "Open connections.")
        page.sample("", counts.open)
        page.begin("tideline_connections_total", "counter", "Connections that were accepted.")
        page.sample("", counts.accepted)
        page.begin("tideline_connections_refused_total", "counter", "Connections beyond a limit.")
        page.sample("", counts.refused)
        page.begin("tideline_waiting_clients", "gauge", "Clients that wait for changes.")
        page.sample("", waitingClients)
        return page.text
    }

    private static func isBefore(_ a: Series, _ b: Series) -> Bool {
        (a.table, a.method, a.status) < (b.table, b.method, b.status)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    private struct Page {
        private(set) var text = ""
        private var name = ""

        mutating func begin(_ name: String, _ type: String, _ help: String) {
            self.name = name
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        }

        mutating func sample(_ labels: String, _ value: Int) { text += "\(name)\(labels) \(value)\n" }

        mutating func histogram(_ counts: [Int], _ sum: Double, _ bounds: [Double]) {
            var total = 0
            for (index, count) in counts.enumerated() {
                total += count
                let bound = index < bounds.count ? "\(bounds[index])" : "+Inf"
                text += "\(name)_bucket{le=\"\(bound)\"} \(total)\n"
            }
            text += "\(name)_sum \(sum)\n\(name)_count \(total)\n"
        }
    }
}

extension ServerMetrics.State {
    fileprivate mutating func position(of table: String) -> Int {
        if let position = tables[table] { return position }
        guard tables.count < ServerMetrics.maximumTables else { return 0 }
        tables[table] = tables.count + 1
        return tables.count
    }
}
