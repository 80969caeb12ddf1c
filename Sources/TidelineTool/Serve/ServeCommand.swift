#if Serve
internal import ArgumentParser
internal import Foundation
internal import Logging
internal import Metrics
internal import TidelineServer
internal import TidelineSimulation
internal import TidelineStore

/// `tideline serve`: serves tables over HTTP.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve tables over HTTP, for clients to sync with.",
        discussion: """
            Implements the table protocol of Azure Mobile Apps (ZUMO 2) and that of the Datasync Community Toolkit \
            (Datasync 3): soft delete, versions, paging, and filters. The header ZUMO-API-VERSION selects the dialect \
            of a request.

            Without a sign-in, everyone who can reach the server may read and change all tables, and it listens only on this \
            machine. With --jwt-secret-file, --jwt-key, or --jwks, requests need a JSON Web Token, in the header \
            Authorization (Bearer) or X-ZUMO-AUTH; GET /.auth/me returns its user.

            Options can also be given in a file (--config) and in the environment. The command line has precedence over the \
            environment, and the environment over the file.

            Prints "listening on URL" once it accepts connections. SIGTERM or SIGINT ends it with status 0, after the time of \
            --drain, and after the requests in flight are finished. SIGHUP reads the certificate again, and never ends it.

            The file of --schema defines tables and their columns, in YAML or JSON. Each table has id, createdAt, \
            updatedAt, version and deleted without listing them:

              tables:
                TodoItem:
                  columns:
                    text: string   # or bool, int, double, timestamp, bytes, json
                    complete: { type: bool, required: true }
                    listId: string
                    userId: string
                  indexes:
                    - [complete, text]
                  references: { listId: TodoList }   # listId contains ids of TodoList
                  # Only with a sign-in: owner is the column with a row's user, who alone
                  # sees the row. Those who may read, insert, update, or delete rows are
                  # anyone, signed-in (the default), or nobody; one alone is for all.
                  # owner: userId
                  # rights: { delete: nobody }
                TodoList: { columns: { name: string } }
            """
    )

    @OptionGroup(title: "Configuration")
    var configuration: ServeConfigurationOptions

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on. 0 selects a free port, which is printed.")
    var port = 8080

    @Option(help: StoreLocation.help(default: defaultStore), transform: StoreLocation.init(parsing:))
    var store: StoreLocation?

    @Option(
        help: ArgumentHelp(
            "The tables and their columns, in YAML or JSON, as shown above.",
            discussion: "By default, the table of the to-do list.",
            valueName: "file"))
    var schema: String?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Create tables and columns when the first row that needs them is inserted.",
            discussion: """
                Enabled by default, unless --schema is given. A column whose first number has neither a point nor an \
                exponent has the type int, and accepts no fractions.
                """))
    var createTables: Bool?

    @Option(
        help: ArgumentHelp(
            "The dialect of requests without a version: \(DialectOption.names).",
            discussion: """
                The default is zumo2, in which a request without a version is an error, unless it is a PUT or has $count, \
                as only Datasync 3 has.
                """,
            valueName: "name"),
        transform: DialectOption.server)
    var dialect = TableServiceOptions.Dialect.zumo2

    @Option(
        help: ArgumentHelp(
            "The number of rows in a page, 1 to 1000.",
            discussion: """
                For ZUMO 2 if the client does not specify it, 50 by default. For Datasync 3 the greatest number, 100 by \
                default.
                """))
    var pageSize: Int?

    @Option(help: "The maximum size of a request body, in bytes. Larger bodies are answered with 413.")
    var maxBodySize = 16 << 20

    @Option(
        help: ArgumentHelp(
            "The maximum total size of all request bodies in flight, in bytes. Further requests are answered with 503.",
            discussion: "The default is four times the maximum body size."))
    var maxBodiesSize: Int?

    @Option(help: ArgumentHelp("The maximum time a connection may be idle, in seconds.", valueName: "seconds"))
    var idleTimeout = 60

    @Option(
        help: ArgumentHelp(
            "The maximum time to receive the headers of a request, in seconds. Slower requests are answered with 408.",
            valueName: "seconds"))
    var headerTimeout = 10

    @Option(
        help: ArgumentHelp(
            "The maximum time to receive the body of a request, in seconds. Slower requests are answered with 408.",
            valueName: "seconds"))
    var bodyTimeout = 60

    @Option(
        help: ArgumentHelp(
            "The maximum time to find the rows of a page, in seconds. Slower queries are answered with 400.",
            valueName: "seconds"))
    var queryTimeout = 10

    @Option(
        name: .customLong("quirk"),
        help: ArgumentHelp(
            "Behave like the original back ends: \(ServerQuirks.named.map(\.name).joined(separator: ", ")).",
            discussion: "May be repeated. \"original\" means all quirks except hard-delete and server-ids.",
            valueName: "name"),
        transform: Self.quirk)
    var quirks: [ServerQuirks] = []

    @OptionGroup(title: "Sign-in options") var signIn: SignInOptions

    @Option(help: "The least severe messages to log to standard error.")
    var logLevel = LogLevel.notice

    @OptionGroup(title: "Operations")
    var operations: OperationsOptions

    /// The default of `--store`. It is a file, because users expect a server to keep its tables.
    static let defaultStore = "sqlite:tideline-server.db"

    private static func quirk(_ name: String) throws -> ServerQuirks {
        if let quirk = ServerQuirks.named.first(where: { $0.name == name }) { return quirk.quirks }
        let names = ServerQuirks.named.map(\.name).joined(separator: ", ")
        throw ValidationError("there is no quirk \(name.debugDescription); use one of \(names).")
    }

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port must be from 0 to 65535, not \(port).")
        }
        try signIn.validate(host: host)
        if let pageSize, !(1...1_000).contains(pageSize) {
            throw ValidationError("--page-size must be from 1 to 1000, not \(pageSize).")
        }
        guard (1...(1 << 30)).contains(maxBodySize) else {
            throw ValidationError("--max-body-size must be from 1 to \(1 << 30) bytes, not \(maxBodySize).")
        }
        if let size = maxBodiesSize, !(maxBodySize...(1 << 40)).contains(size) {
            throw ValidationError(
                "--max-bodies-size must be from \(maxBodySize) (one body) to \(1 << 40) bytes, not \(size).")
        }
        let timeouts = [
            ("idle", idleTimeout), ("header", headerTimeout), ("body", bodyTimeout), ("query", queryTimeout),
        ]
        for (name, seconds) in timeouts where !(1...86_400).contains(seconds) {
            throw ValidationError("--\(name)-timeout must be from 1 to 86400 seconds, not \(seconds).")
        }
    }

    func run() async throws {
        do {
            try await serve()
        } catch  where operations.logFormat == .json && !(error is ExitCode) {
            // Standard error has nothing but JSON.
            logger.critical("\(Self.message(for: error))")
            throw ExitCode.failure
        }
    }

    private func serve() async throws {
        let file = try schema.map(SchemaFile.read) ?? SchemaFile(tables: [TodoItem.schema])
        let server = try await makeServer()
        if server.signIn == nil, let place = file.firstRights {
            throw ToolError(
                "\(place) has an owner or rights, which a server without a sign-in cannot enforce; add --jwt-secret-file,"
                    + " --jwt-key, or --jwks")
        }
        let location = try store ?? StoreLocation(parsing: Self.defaultStore)
        location.warnIfForgetful(instead: Self.defaultStore) { logger.warning("\($0)") }
        let options = try serviceOptions(file, hasSignIn: server.signIn != nil)
        if configuration.check {
            return try await ServeCheck(location: location, options: options, server: server).run()
        }
        HangupSignal.ignore()
        for variable in ServeConfiguration.serviceLinks(in: ProcessInfo.processInfo.environment) {
            logger.notice("the variable \(variable) is ignored: it is one that Kubernetes sets for a service")
        }
        // Bind the address before opening the store, which would create its file.
        let address = try server.bind()
        try await withStore(location) { try await serve($0, options, on: server, address) }
    }

    private func serviceOptions(_ file: SchemaFile, hasSignIn: Bool) throws -> TableServiceOptions {
        var options = TableServiceOptions()
        options.schemas = file.tables
        options.rights = file.rights
        options.defaultRights = hasSignIn ? .signedIn : .open
        options.createsTablesOnFirstInsert = createTables ?? (schema == nil)
        options.dialect = dialect
        options.defaultPageSize = pageSize ?? options.defaultPageSize
        options.datasyncPageSize = pageSize ?? options.datasyncPageSize
        options.maximumBodySize = maxBodySize
        options.maximumQueryTime = .seconds(queryTimeout)
        options.reproduce(ServerQuirks(quirks))
        try operations.apply(to: &options)
        return options
    }

    private func serve(
        _ store: some LocalStore, _ options: TableServiceOptions, on server: TableServer, _ address: BoundAddress
    ) async throws {
        var options = options
        options.onCommit = server.onCommit
        let tables = try store.tables()
        // A backup that is open for reading only stays one.
        if !store.capabilities.isReadOnly { try BackupFile.requireNoBackup(tables) }
        let changes = try ServedSchemas.changes(by: options, over: tables, hasRows: store.hasRows(in:))
        for change in changes {
            logger.notice("schema change: \(change)")
        }
        // Libraries record their metrics there too.
        if let prometheus = server.prometheus { MetricsSystem.bootstrap(prometheus) }
        let service = try TableService(store: store, options: options)
        try await server.run(service, on: address) { url in StandardOutput.line("listening on \(url)") }
    }

    private func makeServer() async throws -> TableServer {
        var server = TableServer(
            host: host, port: port, limits: limits, logger: logger, servesMetrics: operations.metrics)
        server.publicURL = operations.publicURL
        server.signIn = try await signIn.makeVerifier(logger: logger)
        server.identity = try operations.makeIdentity()
        server.compresses = operations.compression
        server.drainTime = .seconds(operations.drain)
        server.shutdownTimeout = .seconds(operations.shutdownTimeout)
        return server
    }

    private var logger: Logger { operations.makeLogger(logLevel) }

    private var limits: ServerLimits {
        var limits = ServerLimits(
            maximumBodySize: maxBodySize, maximumBodiesSize: maxBodiesSize ?? 4 * maxBodySize,
            idleTimeout: .seconds(idleTimeout), headerTimeout: .seconds(headerTimeout),
            bodyTimeout: .seconds(bodyTimeout))
        operations.apply(to: &limits)
        return limits
    }
}

/// The options of `serve` that choose what is configured and how. They can only be given on the command line.
struct ServeConfigurationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read options from a file in YAML or JSON, with their names as keys: \"port: 8080\".",
            discussion: """
                The environment variables TIDELINE_SERVE_PORT, TIDELINE_SERVE_MAX_BODY_SIZE, and so on set options too, and \
                TIDELINE_SERVE_CONFIG names the file. Options that may be repeated are lists in the file, and have \
                commas in the environment.
                """,
            valueName: "file"))
    var config: String?

    @Flag(help: "Check the options, the schema, and the store, print the changes that a start would make, and end.")
    var check = false

    @Flag(help: "Print the effective options with their sources, without secrets, and end.")
    var printConfig = false
}
#endif
