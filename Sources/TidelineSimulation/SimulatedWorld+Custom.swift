public import HTTPTypes
public import Tideline
public import TidelineStore

extension SimulatedWorld {
    /// Processes a request of a device.
    public typealias ServerHandler = @Sendable (HTTPRequest, [UInt8]) throws -> TransportResponse

    /// The parts of the simulation that the server of a custom dialect uses. It must not use any other state, time, or
    /// chance.
    public struct ServerEnvironment: Sendable {
        /// The rows that the server has, with its tables defined. Each call can throw, because the server was killed:
        /// do not catch its errors, and carry out each request in one transaction.
        public let store: AnyStore
        /// The tables, with all system columns.
        public let tables: [TableSchema]
        /// Returns the time by the server's clock, which can jump.
        public let now: @Sendable () -> Timestamp
        /// Returns a random number from a range, determined by the seed, for faults of the server; the lower bound if
        /// there are to be no faults.
        public let random: @Sendable (Range<Int>) -> Int
    }

    /// The server of a custom dialect, and the functions of the dialect that the simulation needs.
    struct CustomServer: Sendable {
        var makeHandler: @Sendable (ServerEnvironment) throws -> ServerHandler
        var request: @Sendable (RowRequest) throws -> ServerRequest
        var rows: @Sendable (TransportResponse, TableSchema) -> [Row]
        var authentication: @Sendable (String) -> HTTPField

        /// Returns the path of a request, without its query, in the form of a table service: `/tables/Todo/r1`.
        func path(_ path: Substring, tables: [TableSchema]) -> String? {
            for table in tables {
                guard let lookUp = try? request(RowRequest(.lookUp, of: "x", in: table)) else { continue }
                let rows = "/" + lookUp.target.dropLast()
                if path.hasPrefix(rows) { return "/tables/\(table.name)/\(path.dropFirst(rows.count))" }
                if path == rows.dropLast() { return "/tables/\(table.name)" }
            }
            return nil
        }
    }

    /// Lets the devices speak a custom dialect to a server of the test's author.
    ///
    /// The server keeps its rows in a store of the simulation, which observes them. Each row has the app's columns, the
    /// column `version` with the text that the dialect takes for the version, and `updatedAt`; a deleted row stays,
    /// with true in `deleted` and null in the app's columns. The server may insert it again.
    ///
    /// ```swift
    /// world.speak(NotesDialect()) { environment in
    ///     let server = NotesServer(environment.store, now: environment.now)
    ///     return { request, body in try server.handle(request, body) }
    /// }
    /// ```
    ///
    /// Some of what the simulation does with a table service is left out:
    /// - Pulls have no filter, and the server no quirks of table services and at most two services, because a server of
    ///   another kind may list changes in another way.
    /// - Pages are not cut without an indication, and columns not renamed or left out: a dialect may rely on its server
    ///   for this. Requests that it makes without a condition are not repeated.
    /// - Stamps of late commits, and the clock that goes back by more than a second, depend on the server: it can use
    ///   ``ServerEnvironment/random``.
    /// - The dialect's change signals are not used.
    ///
    /// - Parameters:
    ///   - dialect: The dialect. The path of a lookup must be that of the table's list, a slash, and the identifier.
    ///   - makeServer: Makes the server, each time that it starts. Set ``schema`` and ``services`` before.
    public mutating func speak(
        _ dialect: some CustomDialect,
        to makeServer: @escaping @Sendable (ServerEnvironment) throws -> ServerHandler
    ) {
        self.dialect = ServerDialect(dialect)
        servers = [[]]
        services = min(services, 2)
        hasProxies = false
        customServer = CustomServer(
            makeHandler: makeServer, request: { try dialect.request(for: $0) },
            rows: { (try? dialect.page(in: $0, to: PageRequest(of: $1), after: nil).rows) ?? [] },
            authentication: { dialect.authentication(token: $0) })
    }

    /// Whether a fault is left out; see ``speak(_:to:)``.
    func excludes(_ fault: SimulationStep.Fault) -> Bool {
        guard customServer != nil else { return false }
        return switch fault {
        case .cutPage, .otherCase, .partial, .lateCommit: true
        default: false
        }
    }
}
