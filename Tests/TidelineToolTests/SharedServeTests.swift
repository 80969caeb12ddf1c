import Foundation
import HTTPTypes
import Synchronization
import Testing
import Tideline
import TidelineAsyncHTTPClient
import TidelineStore

@testable import TidelineTool

/// Two processes of `tideline serve` over one store, one of which is killed while both write.
///
/// `TIDELINE_KILL_ROUNDS` sets the number of kills (default 2).
@Suite("Servers that share a store", .serialized, .timeLimit(.minutes(30)))
struct SharedServeTests {
    private static let rounds = ProcessInfo.processInfo.environment["TIDELINE_KILL_ROUNDS"].flatMap { Int($0) } ?? 2

    @Test(
        "With two servers, one of them killed, clients that pull by stamps miss nothing, and nothing is doubled",
        arguments: [StoreEngine.sqlite, .lmdb])
    func killed(engine: StoreEngine) async throws {
        let tool = try Tool()
        defer { tool.remove() }
        let servers = SharedServers()
        var processes: [ToolProcess] = []
        defer { for process in processes { process.stop() } }
        for _ in 0..<2 { processes.append(try servers.start(tool, engine)) }
        let (writers, changes) = (4, 25 * Self.rounds)
        let seen = try await withThrowingTaskGroup(of: [String: String].self) { group in
            for client in 0..<2 {
                group.addTask { try await Self.pull(from: servers, client) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        for number in 0..<changes {
                            let id = "\(writer)-\(number / 3)"
                            let known = servers.acknowledged.withLock { $0[id]?.version }
                            let version = try await Self.write(id, number, over: known, to: servers, writer + number)
                            servers.acknowledged.withLock { $0[id] = (version, number) }
                        }
                    }
                }
                for round in 1...Self.rounds {
                    let count = writers * changes / 3 * round / (Self.rounds + 1)
                    while servers.acknowledged.withLock({ $0.count }) < count {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    _ = processes[round % 2].killNow()
                    processes[round % 2] = try servers.start(tool, engine, insteadOf: round % 2)
                }
                try await group.waitForAll()
            }
            servers.isDone.withLock { $0 = true }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for process in processes { process.stop() }
        let rows = try await withStore(StoreLocation(parsing: tool.location(engine, "server"))) { store in
            try store.read { try $0.rows(matching: Query("Shared")).rows }
        }
        let expected = servers.acknowledged.withLock { $0 }
        #expect(rows.count == expected.count)
        #expect(Set(rows.compactMap { $0["updatedAt"]?.timestamp }).count == rows.count)
        for row in rows {
            #expect(row["version"]?.string == expected[row.idText]?.version, "\(row.idText)")
            #expect(row["n"]?.int == expected[row.idText].map { Int64($0.number) }, "\(row.idText)")
        }
        for client in seen { #expect(client == expected.mapValues(\.version)) }
    }

    /// Inserts or updates a row, with any server, until it is acknowledged. Returns its version.
    private static func write(
        _ id: String, _ number: Int, over version: String?, to servers: SharedServers, _ first: Int
    ) async throws -> String {
        let path = "/tables/Shared" + (version == nil ? "" : "/\(id)")
        let answer = try await servers.send(
            version == nil ? .post : .patch, path, first, ifMatch: version,
            body: Array((version == nil ? #"{"id":"\#(id)","n":\#(number)}"# : #"{"n":\#(number)}"#).utf8))
        // A server that was killed may have committed the change before it answered.
        try #require(
            [200, 201, 409, 412].contains(answer.response.status.code),
            "\(String(decoding: answer.body, as: UTF8.self))")
        let row = try #require(JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
        try #require(row["n"] as? Int == number, "\(row)")
        return try #require(row["version"] as? String)
    }

    /// Pulls the rows with later timestamps than the last, without a look-back, until the writers have ended. Returns the
    /// versions of all rows.
    private static func pull(
        from servers: SharedServers, _ first: Int
    ) async throws -> [String: String] {
        var (seen, token, count) = ([String: String](), "0001-01-01T00:00:00Z", first)
        while true {
            let isLast = servers.isDone.withLock { $0 }
            count += 1
            let answer = try await servers.send(
                .get, "/tables/Shared?$filter=updatedAt%20gt%20datetimeoffset'\(token)'&$orderby=updatedAt&$top=20",
                count)
            let rows = (try? JSONSerialization.jsonObject(with: Data(answer.body))) as? [[String: Any]] ?? []
            for row in rows { seen[row["id"] as? String ?? ""] = row["version"] as? String }
            if let last = rows.last?["updatedAt"] as? String { token = last }
            if isLast, rows.isEmpty { return seen }
        }
    }
}

/// The addresses of the servers over one store, and the changes that they acknowledged.
private final class SharedServers: Sendable {
    private let authorities = Mutex<[String]>([])
    /// The version and the number of the last change of each row.
    let acknowledged = Mutex<[String: (version: String, number: Int)]>([:])
    /// Whether all writers have ended.
    let isDone = Mutex(false)

    /// Starts a server, in the place of the given one if there is one.
    func start(_ tool: Tool, _ engine: StoreEngine, insteadOf number: Int? = nil) throws -> ToolProcess {
        let (process, url) = try tool.startServer(engine: engine)
        let authority = String(url.dropFirst("http://".count))
        authorities.withLock { authorities in
            if let number { authorities[number] = authority } else { authorities.append(authority) }
        }
        return process
    }

    /// Sends a request to one server after the other until one answers.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ first: Int, ifMatch version: String? = nil, body: [UInt8]? = nil
    ) async throws -> TransportResponse {
        for attempt in 0..<2_000 {
            let authority = authorities.withLock { $0[(first + attempt) % $0.count] }
            var request = HTTPRequest(method: method, scheme: "http", authority: authority, path: path)
            request.headerFields[HTTPField.Name("ZUMO-API-VERSION")!] = "2.0.0"
            request.headerFields[.ifMatch] = version.map { "\"\($0)\"" }
            if body != nil { request.headerFields[.contentType] = "application/json" }
            let answer = try? await AsyncHTTPClientTransport.shared.send(request, body: body, timeout: .seconds(20))
            if let answer, answer.response.status.code < 500 { return answer }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw ToolError("no server answers \(method) \(path)")
    }
}
