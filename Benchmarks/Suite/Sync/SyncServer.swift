internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineMemory
internal import TidelineServer
internal import TidelineStore

/// A table service in this process with the rows of a run in its memory; made when it is first needed, and shared by the
/// workloads, each of which leaves it as it was.
public final class SyncServer: Sendable {
    /// The source of its rows.
    public let source: RowSource
    /// How many it has, from the first on.
    public let rows: Int
    private let state = Mutex(State())

    private struct State {
        var running: Running?
        var pages: [Int: [[UInt8]]] = [:]
        /// Rows that are not as the source has them, or that it does not have yet.
        var touched: Set<Int> = []
    }

    /// The service and what it serves from.
    private struct Running {
        let store: MemoryStore
        let service: TableService<MemoryStore>
        let table: ServedRows
    }

    /// A server of the first so many rows of a source.
    public init(_ source: RowSource, rows: Int) {
        self.source = source
        self.rows = rows
    }

    // MARK: Its rows

    /// Changes rows as other clients would, spread evenly over the table: their text, version and instant.
    func change(_ count: Int) throws {
        try state.withLock { state in
            let running = try start(&state)
            let changed = (0..<count).map { $0 * rows / count }
            try running.store.write { writer in
                for (place, index) in changed.enumerated() {
                    let row = running.table.row(index, of: source, changedAs: rows + place)
                    try writer.upsert(row, into: running.table.name)
                }
            }
            state.touched.formUnion(changed)
        }
    }

    /// Says that rows are going to be changed by pushes, so that ``reset()`` knows.
    func expectChanges(to indexes: some Sequence<Int>) { state.withLock { $0.touched.formUnion(indexes) } }

    /// Puts all changed rows back, and removes those that came.
    func reset() throws {
        try state.withLock { state in
            guard let running = state.running else { return }
            let (kept, added) = (state.touched.filter { $0 < rows }, state.touched.filter { $0 >= rows })
            try running.store.write { writer in
                for index in kept { try writer.upsert(running.table.row(index, of: source), into: running.table.name) }
                try writer.delete(ids: added.map { source.id($0) }, from: running.table.name)
            }
            state.touched = []
        }
    }

    // MARK: Its answers

    /// Answers a request.
    func answer(_ request: HTTPRequest, body: [UInt8]) throws -> TransportResponse {
        // Not in the lock: a service takes any number of requests at once.
        let service = try state.withLock { try start(&$0).service }
        let answer = service.handle(request, body: body)
        return TransportResponse(response: answer.response, body: answer.body)
    }

    /// All rows in pages of a size, as it answers them to a client, each row once.
    func pages(of size: Int, perTransaction: Int = 1) throws -> JSONPages {
        let bodies = try state.withLock { state in
            if let bodies = state.pages[size] { return bodies }
            let running = try start(&state)
            let bodies = try stride(from: 0, to: rows, by: size).map {
                try page(from: $0, of: size, running.service)
            }
            state.pages[size] = bodies
            return bodies
        }
        return JSONPages(bodies: bodies, rows: rows, pagesPerTransaction: perTransaction)
    }

    private func page(from first: Int, of size: Int, _ service: TableService<MemoryStore>) throws -> [UInt8] {
        // Rows are numbered in the order of `updatedAt`, and no two have the same.
        let bound = ServedRows.updatedAt(first).description
        let query = "$filter=(updatedAt ge datetimeoffset'\(bound)')&$orderby=updatedAt,id&$top=\(size)"
        let answer = service.handle(
            HTTPRequest(
                method: .get, scheme: "http", authority: "server.test",
                path: "/tables/\(source.table.schema.name)?\(query.replacing(" ", with: "%20"))&__includeDeleted=true",
                headerFields: [.zumoVersion: "2.0.0"]), body: [])
        guard answer.response.status == .ok else {
            throw TransportError(.invalidResponse, String(decoding: answer.body, as: UTF8.self))
        }
        return answer.body
    }

    // MARK: Its start

    private func start(_ state: inout State) throws -> Running {
        if let running = state.running { return running }
        let store = try MemoryStore()
        let schema = ServedRows.schema(source.table)
        let service = try TableService(store: store, options: TableServiceOptions(schemas: [schema]))
        let table = ServedRows(try store.read { try $0.shape(of: schema.name) })
        try stride(from: 0, to: rows, by: 1000).forEach { first in
            try store.write { writer in
                let packed = try table.packed(first..<min(first + 1000, rows), of: source)
                try writer.upsert(packed, into: schema.name)
            }
        }
        let running = Running(store: store, service: service, table: table)
        state.running = running
        return running
    }
}

extension HTTPField.Name {
    // A constant that is a valid name.
    static let zumoVersion = HTTPField.Name("ZUMO-API-VERSION")!
}
