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
        var service: TableService<MemoryStore>
        let table: ServedRows
    }

    /// What happens to its rows beside what a client does.
    public enum Change: Sendable {
        /// Every row is again as it was at first, and those that came are gone.
        case reset
        /// Other clients change so many rows, spread evenly over the table: their text, version and instant.
        case others(Int)
        /// The client under test is going to push so many edits of ``LocalEdit/mix(_:of:rows:)``, which is said for the reset
        /// after it.
        case expectEdits(Int)
    }

    /// A server of the first so many rows of a source.
    public init(_ source: RowSource, rows: Int) {
        self.source = source
        self.rows = rows
    }

    // MARK: Its rows

    /// Makes a change.
    func make(_ change: Change) throws {
        try state.withLock { state in
            switch change {
            case .reset: try reset(&state)
            case .others(let count): try changeRows(count, &state)
            case .expectEdits(let count): state.touched.formUnion(LocalEdit.rowsOfMix(count, rows: rows))
            }
        }
    }

    private func changeRows(_ count: Int, _ state: inout State) throws {
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

    private func reset(_ state: inout State) throws {
        guard var running = state.running, !state.touched.isEmpty else { return }
        let added = state.touched.filter { $0 >= rows }
        try running.store.write { writer in
            for index in state.touched.subtracting(added) {
                try writer.upsert(running.table.row(index, of: source), into: running.table.name)
            }
            try writer.delete(ids: added.map { source.id($0) }, from: running.table.name)
        }
        running.service = try makeService(running.store)
        state = State(running: running, pages: state.pages)
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
    public func pages(of size: Int, perTransaction: Int = 1) throws -> JSONPages {
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
        let name = source.table.schema.name
        let service = try makeService(store)
        let table = ServedRows(try store.read { try $0.shape(of: name) })
        for first in stride(from: 0, to: rows, by: 1000) {
            try store.write { writer in
                let packed = try table.packed(first..<min(first + 1000, rows), of: source)
                try writer.upsert(packed, into: name)
            }
        }
        let running = Running(store: store, service: service, table: table)
        state.running = running
        return running
    }

    /// A service that stamps the rows of the same pushes alike, so that the stores of all who push can be compared.
    private func makeService(_ store: MemoryStore) throws -> TableService<MemoryStore> {
        let versions = VersionCounter()
        // Long after the last row's instant: a pull then does not look back at what it has.
        let now = ServedRows.updatedAt(rows + 3_600_000)
        let options = TableServiceOptions(
            schemas: [ServedRows.schema(source.table)], clock: { now },
            makeVersion: { versions.next() })
        return try TableService(store: store, options: options)
    }
}

/// Makes versions that are the same in every run.
private final class VersionCounter: Sendable {
    private let last = Mutex(0)

    func next() -> String {
        let number = last.withLock { last in
            last += 1
            return last
        }
        return "pushed-\(number)"
    }
}

extension HTTPField.Name {
    // A constant that is a valid name.
    static let zumoVersion = HTTPField.Name("ZUMO-API-VERSION")!
}
