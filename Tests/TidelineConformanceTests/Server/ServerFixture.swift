import HTTPTypes
import Tideline
import TidelineServer
import TidelineServerConformance
import TidelineSimulation
import TidelineStore
import TidelineTestStores

/// A transport to a service in the same process.
struct ServiceTransport: Transport {
    let service: TableService<TestStore>

    func send(_ request: HTTPRequest, body: [UInt8]?, timeout: Duration) async throws -> TransportResponse {
        let answer = service.handle(request, body: body ?? [])
        return TransportResponse(response: answer.response, body: answer.body)
    }
}

/// A service with its own store, and the suite for it.
struct ServerFixture {
    let store: TestStore
    let service: TableService<TestStore>
    let dialect: ServerDialect

    static let schema = TableSchema(
        "ConformanceItem",
        columns: [
            .string("mark"), .string("text"), .int("number"), .double("price"), .bool("done"), .timestamp("due"),
        ])

    /// - Parameters:
    ///   - schemas: The tables, which then cannot grow; `nil` to let inserted rows create tables and columns.
    ///   - clock: Returns the server's time.
    init(
        _ stores: StoreKind, _ dialect: ServerDialect, schemas: [TableSchema]? = nil, quirks: ServerQuirks = [],
        clock: @escaping @Sendable () -> Timestamp = { .now }
    ) throws {
        store = try stores.makeStore()
        self.dialect = dialect
        var options = TableServiceOptions(
            schemas: schemas ?? [], createsTablesOnFirstInsert: schemas == nil, clock: clock)
        options.reproduce(quirks)
        service = try TableService(store: store, options: options)
    }

    /// Returns a suite of 130 rows for the service, or for the transport that `wrap` returns.
    func suite(
        _ wrap: (ServiceTransport) -> any Transport = { $0 },
        configure: (inout ServerConformance.Options) -> Void = { _ in }
    ) throws -> ServerConformance {
        var options = ServerConformance.Options()
        options.rows = 130
        configure(&options)
        return try ServerConformance(
            url: "http://server.test:8080", dialect: dialect, transport: wrap(ServiceTransport(service: service)),
            options: options)
    }
}
