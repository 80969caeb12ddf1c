import HTTPTypes
import Synchronization
import Testing
import TidelineServer
import TidelineSimulation
import TidelineStore
import TidelineTestStores
import TidelineWire

/// A clock that moves only when it is set.
final class ManualClock: Sendable {
    private let instant: Mutex<Timestamp>
    init(_ text: String = "2026-11-21T09:00:00Z") { instant = Mutex(Timestamp(text) ?? .min) }
    var now: Timestamp { instant.withLock { $0 } }
    func set(_ text: String) { instant.withLock { $0 = Timestamp(text) ?? $0 } }
    func advance(byTicks ticks: Int64) { instant.withLock { $0 = $0.advanced(byTicks: ticks) } }
}

/// A service over a store of any kind, with a clock controlled by the test.
struct ServiceFixture {
    let clock: ManualClock
    let store: TestStore
    let service: TableService<TestStore>

    static let schema = TableSchema(
        "Item",
        columns: [
            .string("text"), .int("count"), .double("price"), .bool("done"), .timestamp("due"), .bytes("photo"),
            .json("extra"),
        ])

    /// - Parameters:
    ///   - schemas: The tables, which then cannot grow; `nil` to let inserted rows create tables and columns.
    ///   - store: The store, or `nil` for an empty one of the given kind.
    init(
        _ stores: StoreKind, schemas: [TableSchema]? = [schema], store: TestStore? = nil,
        maximumBodySize: Int = 4 << 20, maximumPageBytes: Int = 16 << 20,
        maximumQueryTime: Duration = .seconds(60), quirks: ServerQuirks = []
    ) throws {
        let clock = ManualClock()
        let store = try store ?? stores.makeStore()
        self.clock = clock
        self.store = store
        var options = TableServiceOptions(
            schemas: schemas ?? [], createsTablesOnFirstInsert: schemas == nil, maximumBodySize: maximumBodySize,
            maximumQueryTime: maximumQueryTime, clock: { clock.now })
        options.reproduce(quirks)
        options.maximumPageBytes = maximumPageBytes
        service = try TableService(store: store, options: options)
    }

    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", version: String? = "2.0.0",
        ifMatch: String? = nil
    ) -> TableResponse {
        service.send(method, path, body, version: version, ifMatch: ifMatch)
    }

    /// Sends a request made by a dialect.
    func send(_ wire: WireRequest) -> TableResponse {
        let request = HTTPRequest(
            method: wire.method, scheme: "http", authority: "host:8080", path: "/" + wire.target,
            headerFields: wire.headers)
        return service.handle(request, body: wire.body ?? [])
    }

    func insert(_ row: String, into table: String = "Item") throws -> Row {
        let answer = send(.post, "/tables/\(table)", row)
        #expect(answer.response.status == .created, "\(answer.text)")
        return try answer.row()
    }

    /// Inserts twelve rows with texts of 400 bytes, the sixth with one of 5,000.
    func insertLongTexts() throws {
        for number in 0..<12 {
            let text = String(repeating: "x", count: number == 5 ? 5_000 : 400)
            _ = try insert(#"{"id":"\#(10 + number)","text":"\#(text)"}"#)
        }
    }

    /// Returns the rows of a page, and what else it contains.
    func rows(_ answer: TableResponse, of table: String = "Item") throws -> (rows: [Row], info: PageInfo) {
        #expect(answer.response.status == .ok, "\(answer.text)")
        let schema = try #require(try store.tables().first { $0.name == table })
        let parser = PageParser(schema: schema)
        var packed = PackedRows(shape: parser.shape)
        let info = try parser.parsePage(answer.body, into: &packed)
        var rows: [Row] = []
        packed.forEachRow { rows.append($0.owned()) }
        return (rows, info)
    }

    func ids(_ path: String, of table: String = "Item") throws -> [String] {
        try rows(send(.get, path), of: table).rows.map(\.idText)
    }
}

extension TableResponse {
    var status: HTTPResponse.Status { response.status }
    var text: String { String(decoding: body, as: UTF8.self) }
    var eTag: String? { response.headerFields[.eTag] }
    var link: String? { response.headerFields[.link] }

    func row() throws -> Row { try body.withUnsafeBytes { try JSONRow.parse($0) } }

    /// Returns the message of an error response.
    func error() throws -> String { try #require(try row()["error"]?.string) }
}

extension Row {
    var updatedAt: Timestamp? { self["updatedAt"]?.string.flatMap { Timestamp($0) } ?? self["updatedAt"]?.timestamp }
}
