#if Commands
internal import HTTPTypes
internal import Synchronization
internal import Tideline
internal import TidelineKeyValue
internal import TidelineMemory
internal import TidelineServer
internal import TidelineStore
internal import TidelineWire

/// A table service in this process with the rows of a run in memory. It starts on first use, and the workloads share
/// it; each restores the rows that it changes.
public final class SyncServer: Sendable {
    /// The source of the rows.
    public let source: RowSource
    /// The number of rows.
    public let rows: Int
    private let state = Mutex(State())

    private struct State {
        var running: Running?
        var pages: [Int: [[UInt8]]] = [:]
        /// The positions of rows that differ from the source.
        var touched: Set<Int> = []
    }

    /// The service and its store.
    private struct Running {
        let store: MemoryStore
        var service: TableService<MemoryStore>
        let table: ServerRows
    }

    /// Changes that the measured client does not make.
    public enum Change: Sendable {
        /// Restores all rows of the source and removes all others.
        case reset
        /// Changes rows as other clients do: text, version and `updatedAt` of a number of rows, spread evenly.
        case others(Int)
        /// Announces a push of the edits of ``LocalEdit/mix(_:of:rows:)``, so that ``reset`` restores their rows.
        case expectEdits(Int)
    }

    /// Creates a server with the first rows of a source.
    public init(_ source: RowSource, rows: Int) {
        self.source = source
        self.rows = rows
    }

    // MARK: Changes

    /// Applies a change.
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
            for (position, index) in changed.enumerated() {
                let row = running.table.row(index, of: source, changedAs: rows + position)
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
            // The clock continues at the greatest timestamp of the rows.
            try writer.upsert(
                ["id": .string(running.table.name), "clock": .null], into: StoreRole.serverMark.name)
        }
        running.service = try makeService(running.store)
        state = State(running: running, pages: state.pages)
    }

    // MARK: Requests

    /// Handles a request.
    func answer(_ request: HTTPRequest, body: [UInt8]) throws -> TransportResponse {
        // Outside the lock, because the service handles requests concurrently.
        let service = try state.withLock { try start(&$0).service }
        let answer = service.handle(request, body: body)
        return TransportResponse(response: answer.response, body: answer.body)
    }

    /// Returns all rows in pages, in the format of a response.
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
        // The values of `updatedAt` are unique and in the order of the rows.
        let bound = ServerRows.updatedAt(first).description
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

    // MARK: Start

    private func start(_ state: inout State) throws -> Running {
        if let running = state.running { return running }
        let store = try MemoryStore()
        let name = source.table.schema.name
        let service = try makeService(store)
        let table = ServerRows(try store.read { try $0.shape(of: name) })
        for range in (0..<rows).parts(of: 1000) {
            let packed = try table.packed(range, of: source)
            try store.write { try $0.upsert(packed, into: name) }
        }
        let running = Running(store: store, service: service, table: table)
        state.running = running
        return running
    }

    /// Creates a service whose times and versions are the same for each subject, so that the answers can be compared.
    private func makeService(_ store: MemoryStore) throws -> TableService<MemoryStore> {
        let versions = VersionCounter()
        // Much later than the last row, so that a pull has no look-back.
        let now = ServerRows.updatedAt(rows + 3_600_000)
        let options = TableServiceOptions(
            schemas: [ServerRows.schema(source.table)], clock: { now }, makeVersion: { versions.next() })
        return try TableService(store: store, options: options)
    }
}

/// Generates the same versions in every run.
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
    // The constant is a valid name.
    static let zumoVersion = HTTPField.Name("ZUMO-API-VERSION")!
}
#endif
