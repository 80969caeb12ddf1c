internal import ArgumentParser
internal import Logging
internal import TidelineServer
internal import TidelineStore

/// `tideline serve`: a table service to develop and test against.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve tables over HTTP, for clients to sync with.",
        discussion: """
            Speaks the table protocol of Azure Mobile Apps (ZUMO 2): soft delete, versions, paging, filters. Made for \
            development and tests: it asks nobody who they are, and so listens on this machine only unless told otherwise.

            Prints "listening on URL" once it accepts connections. SIGTERM or SIGINT ends it with status 0, after the \
            requests in flight.

            The file of --schema lists tables with their columns, in YAML or JSON; id, createdAt, updatedAt, version and \
            deleted are there without being listed:

              tables:
                TodoItem:
                  columns:
                    text: string          # or bool, int, double, timestamp, bytes, json
                    complete: { type: bool, required: true }
                  indexes:
                    - [complete, text]
            """
    )

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 takes a free one, which is printed.")
    var port = 8080

    @Option(help: StoreLocation.help, transform: StoreLocation.init(parsing:))
    var store: StoreLocation?

    @Option(
        help: ArgumentHelp(
            "The tables and their columns, in YAML or JSON, as shown above.",
            discussion: "Without it, the table of the to-do list.",
            valueName: "file"))
    var schema: String?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Make tables and columns when the first row that needs them is inserted.",
            discussion: "Without either flag they are made, unless --schema says what there is."))
    var createTables: Bool?

    @Option(help: "How many rows a page has when the client does not say, 1 to 1000.")
    var pageSize = 50

    @Option(help: "The largest request body, in bytes; a larger one is answered with 413.")
    var maxBodySize = 16 << 20

    @Option(
        help: ArgumentHelp(
            "The bodies of all requests in flight, in bytes; what does not fit is answered with 503.",
            discussion: "Default: four of the largest body."))
    var maxBodiesSize: Int?

    @Option(help: ArgumentHelp("How long a connection may be idle, in seconds.", valueName: "seconds"))
    var idleTimeout = 60

    @Option(
        help: ArgumentHelp(
            "How long the headers of a request may take, in seconds; more is answered with 408.", valueName: "seconds"))
    var headerTimeout = 10

    @Option(
        help: ArgumentHelp(
            "How long the body of a request may take, in seconds; more is answered with 408.", valueName: "seconds"))
    var bodyTimeout = 60

    @Option(
        help: ArgumentHelp(
            "How long a filter may be evaluated, in seconds; more is answered with 400.", valueName: "seconds"))
    var filterTimeout = 5

    @Option(
        name: .customLong("quirk"),
        help: ArgumentHelp(
            "Behave as the original back ends do: \(ServerQuirks.named.map(\.name).joined(separator: ", ")).",
            discussion: "May be given several times. \"original\" stands for all but hard-delete and server-ids.",
            valueName: "name"),
        transform: Self.quirk)
    var quirks: [ServerQuirks] = []

    @Option(help: "What is logged to standard error.")
    var logLevel = LogLevel.notice

    /// Where tables are kept unless `--store` says otherwise: a server that forgets its tables would surprise.
    static let defaultStore = "sqlite:tideline-server.db"

    private static func quirk(_ name: String) throws -> ServerQuirks {
        if let quirk = ServerQuirks.named.first(where: { $0.name == name }) { return quirk.quirks }
        let names = ServerQuirks.named.map(\.name).joined(separator: ", ")
        throw ValidationError("there is no quirk \(name.debugDescription); use one of \(names).")
    }

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("the port is from 0 to 65535, not \(port).") }
        guard (1...1_000).contains(pageSize) else {
            throw ValidationError("the page size is from 1 to 1000, not \(pageSize).")
        }
        guard (1...(1 << 30)).contains(maxBodySize) else {
            throw ValidationError("the largest body is from 1 to \(1 << 30) bytes, not \(maxBodySize).")
        }
        if let size = maxBodiesSize, !(maxBodySize...(1 << 40)).contains(size) {
            throw ValidationError(
                "--max-bodies-size is from one largest body, \(maxBodySize), to \(1 << 40) bytes, not \(size).")
        }
        let timeouts = [
            ("idle", idleTimeout), ("header", headerTimeout), ("body", bodyTimeout), ("filter", filterTimeout),
        ]
        for (name, seconds) in timeouts where !(1...86_400).contains(seconds) {
            throw ValidationError("--\(name)-timeout is from 1 to 86400 seconds, not \(seconds).")
        }
    }

    func run() async throws {
        let tables = try schema.map(SchemaFile.read) ?? [TodoItem.schema]
        let location = try store ?? StoreLocation(parsing: Self.defaultStore)
        location.warnIfForgetful()
        // Before the store is opened, which would make its file.
        try await server.requireAddress()
        try await withStore(location) { try await serve($0, tables: tables) }
    }

    private func serve(_ store: some LocalStore, tables: [TableSchema]) async throws {
        var options = TableServiceOptions()
        options.schemas = tables
        options.createsTablesOnFirstInsert = createTables ?? (schema == nil)
        options.defaultPageSize = pageSize
        options.maximumBodySize = maxBodySize
        options.maximumFilterTime = .seconds(filterTimeout)
        options.quirks = ServerQuirks(quirks)
        let service = try TableService(store: store, options: options)
        try await server.run(service) { url in StandardOutput.line("listening on \(url)") }
    }

    private var server: TableServer {
        var logger = Logger(label: "tideline.serve") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = logLevel.level
        return TableServer(host: host, port: port, limits: limits, logger: logger)
    }

    private var limits: ServerLimits {
        ServerLimits(
            maximumBodySize: maxBodySize, maximumBodiesSize: maxBodiesSize ?? 4 * maxBodySize,
            idleTimeout: .seconds(idleTimeout), headerTimeout: .seconds(headerTimeout),
            bodyTimeout: .seconds(bodyTimeout))
    }
}
