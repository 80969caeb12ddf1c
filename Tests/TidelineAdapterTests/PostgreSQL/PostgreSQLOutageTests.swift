#if PostgreSQL && Tool
import Foundation
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

@testable import TidelineTool

/// Tests databases that keep their connections and do not respond, or no longer accept writes.
@Suite(.needsPostgreSQL, .serialized) struct PostgreSQLOutageTests {
    private static let table = TableSchema("t", columns: [.int("n")])

    private func makeStore(_ server: TestServer, through proxy: SilentProxy) throws -> PostgreSQLStore {
        let patient = try PostgreSQLStore(connection: server.connection(), options: .patient())
        try patient.define([Self.table])
        try patient.close()
        let connection = "host=127.0.0.1 port=\(proxy.port) dbname=postgres user=postgres connect_timeout=2"
        let options = PostgreSQLOptions(busyTimeout: .milliseconds(100), responseTimeout: .seconds(1))
        var store: PostgreSQLStore?
        // A busy machine may respond later than the store waits.
        try waitUntil("a store that is served in time") {
            store = try? PostgreSQLStore(connection: connection, options: options)
            // Opens the connections of the next write and the next reads.
            return (try? store?.write { try $0.upsert(["id": "1", "n": 1], into: "t") }) != nil
                && (try? store?.read { outer in try store?.read { _ in try outer.count(TableQuery("t")) } }) != nil
        }
        return try #require(store)
    }

    /// A moment of a transaction in which the server stops responding.
    enum Moment: CaseIterable {
        case before, withinRead, withinWrite, withinScanOfWrite

        /// Calls `begin`, which begins an outage, at this moment. A transaction that has begun must fail.
        func meet(_ store: PostgreSQLStore, _ begin: () throws -> Void) throws {
            switch self {
            case .before: try begin()
            case .withinRead:
                let error = expectError(.io) {
                    try store.read { reader throws in
                        _ = try reader.count(TableQuery("t"))
                        // Prepares its statement, so that the call below sends nothing.
                        try reader.limitTime?(.seconds(1))
                        try begin()
                        try reader.limitTime?(.seconds(1))
                        _ = try reader.count(TableQuery("t"))
                    }
                }
                #expect(error?.message.contains("did not respond in time") == true)
            case .withinWrite:
                expectError(.io) {
                    try store.write { writer throws in
                        try writer.upsert(["id": "2"], into: "t")
                        try begin()
                        _ = try writer.row(in: "t", id: "1")
                        _ = try writer.count(TableQuery("t"))
                    }
                }
            case .withinScanOfWrite:
                expectError(.io) { try store.write { writer throws in try Self.scan(writer, begin) } }
            }
        }

        /// Begins an outage between the first rows of a scan and those that a cursor reads.
        private static func scan(_ writer: PostgreSQLWriter, _ begin: () throws -> Void) throws {
            try writer.upsert(["id": "2"], into: "t")
            try writer.upsert((0..<200).map { ["id": .string("row \($0)")] as Row }, into: "t")
            var hasBegun = false
            _ = try writer.scan(TableQuery("t")) { _ in
                if hasBegun { return .next }
                hasBegun = true
                // Prepares its statement, so that the call below sends nothing.
                try writer.limitTime?(.seconds(5))
                try begin()
                try writer.limitTime?(.seconds(5))
                return .next
            }
        }
    }

    /// The reason that the server does not respond.
    enum Outage: CaseIterable {
        case frozen, frozenConnections, cutNetwork, cutConnections

        /// Whether a new connection works.
        var acceptsConnections: Bool { self == .frozenConnections || self == .cutConnections }

        /// Returns a closure that ends the outage.
        func begin(_ server: TestServer, _ proxy: SilentProxy) throws -> () -> Void {
            switch self {
            case .frozen: return try server.freeze()
            case .frozenConnections: return try server.freeze(acceptsConnections: true)
            case .cutNetwork: proxy.set(.allConnections)
            case .cutConnections: proxy.set(.openConnections)
            }
            return { proxy.set(.nothing) }
        }
    }

    @Test(arguments: Moment.allCases, Outage.allCases)
    func aServerThatDoesNotRespondIsAnErrorAndIsUsedAgain(_ moment: Moment, _ outage: Outage) throws {
        let server = try TestServer(settings: ["fsync=off", "autovacuum=off"])
        defer { server.end() }
        let proxy = try SilentProxy(to: server.folder)
        defer { proxy.end() }
        let store = try makeStore(server, through: proxy)
        var (thaw, hasBegun) = ({}, false)
        defer { thaw() }
        // A response that is late because the machine is busy is an error before the outage.
        try waitUntil("the outage") {
            try moment.meet(store) {
                thaw = try outage.begin(server, proxy)
                hasBegun = true
            }
            return hasBegun
        }
        // Where a new connection works, only one that was idle during the outage fails, and only once.
        let attempts = !outage.acceptsConnections ? 2 : moment == .withinRead ? 1 : 0
        for _ in 0..<attempts {
            #expect(throws: StoreError.self) { try store.write { try $0.upsert(["id": "3"], into: "t") } }
        }
        thaw()
        thaw = {}
        try waitUntil("the store to be used again") {
            (try? store.write { try $0.upsert(["id": "4"], into: "t") }) != nil
                && (try? store.read { try $0.row(in: "t", id: "4") }) != nil
        }
        try waitUntil("a read without the row of the outage") {
            (try? store.read { try $0.row(in: "t", id: "2") == nil }) == true
        }
        try store.close()
    }

    /// A query is slow for a reason, as long as the server responds.
    @Test func aQueryThatTakesLongerThanAResponseIsNotEnded() throws {
        let (filled, connection) = try TestServer.makeStoreInDatabase(Self.table)
        try filled.write { try $0.upsert(["id": "1", "n": 1], into: "t") }
        try filled.close()
        try PlainConnection(connection).query(
            """
            ALTER TABLE tideline.t RENAME TO u;
            CREATE VIEW tideline.t AS SELECT u.* FROM tideline.u, LATERAL (SELECT pg_sleep(1) WHERE u.n > 0) AS pause
            """)
        // A busy machine may also respond late to another statement, so that the query is repeated.
        try waitUntil("the result of a slow query") {
            let options = PostgreSQLOptions(responseTimeout: .milliseconds(100))
            guard let store = try? PostgreSQLStore(connection: connection, options: options) else { return false }
            defer { try? store.close() }
            return (try? store.read { try $0.count(TableQuery("t")) }) == 1
        }
    }

    /// The second statement has only the rest of the time. If the store gave up first, it would take the server for
    /// frozen, and fail reads of others.
    @Test func theServerEndsAQueryWhoseStatementsTogetherTakeTooLong() throws {
        let (filled, connection) = try TestServer.makeStoreInDatabase(Self.table)
        try filled.write { try $0.upsert(["id": "1", "n": 1], into: "t") }
        try filled.close()
        try PlainConnection(connection).query(
            """
            ALTER TABLE tideline.t RENAME TO u;
            CREATE VIEW tideline.t AS
                SELECT u.* FROM tideline.u, LATERAL (SELECT pg_sleep(2.5) WHERE u.n > 0) AS pause
            """)
        // On a busy machine, the server may respond later than the store waits. If the server did not end the query,
        // it always would.
        try waitUntil("the server to end the query") {
            let options = PostgreSQLOptions(responseTimeout: .seconds(1))
            guard let store = try? PostgreSQLStore(connection: connection, options: options) else { return false }
            defer { try? store.close() }
            do {
                try store.read { reader throws in
                    try reader.limitTime?(.seconds(3))
                    _ = try reader.rows(matching: TableQuery("t").includingTotalCount())
                }
                return false
            } catch let error as StoreError where error.code == .timeLimit {
                return (try? store.read { try $0.row(in: "t", id: "2") == nil }) == true
            } catch {
                return false
            }
        }
    }

    @Test func aFrozenServerEnds() throws {
        let server = try TestServer(settings: ["fsync=off"])
        _ = try server.freeze()
        server.end()
        #expect(!FileManager.default.fileExists(atPath: server.folder))
    }

    /// The connections of several reads can be cut while they are idle.
    @Test func oneErrorReplacesAllIdleConnections() throws {
        let server = try TestServer(settings: ["fsync=off", "autovacuum=off"])
        defer { server.end() }
        let proxy = try SilentProxy(to: server.folder)
        defer { proxy.end() }
        let store = try makeStore(server, through: proxy)
        proxy.set(.openConnections)
        expectError(.io) { try store.read { _ = try $0.count(TableQuery("t")) } }
        var errors: [any Error] = []
        try waitUntil("a read") {
            do {
                return try store.read { try $0.count(TableQuery("t")) } == 1
            } catch {
                errors.append(error)
                return false
            }
        }
        // Until the next attempt, it is the same error.
        #expect(Set(errors.map { "\($0)" }).count <= 1, "\(errors)")
        try store.close()
    }

    /// Returns the status of a request by curl, and the header Retry-After.
    private static func status(_ url: String, _ arguments: [String] = []) throws -> String {
        let output = ["-s", "-o", "/dev/null", "-w", "%{http_code} %header{retry-after}", "-m", "300"]
        return try ToolProcess.run(
            output + arguments + ["-H", "ZUMO-API-VERSION: 2.0.0", url],
            executable: URL(fileURLWithPath: "/usr/bin/curl")
        ).out
    }

    private static let insert = ["-H", "Content-Type: application/json", "-d", #"{"text":"a"}"#]

    @Test(arguments: [Outage.frozen, .cutNetwork])
    func aServerOverADatabaseThatDoesNotRespondAnswersAndIsNotReady(_ outage: Outage) async throws {
        let database = try TestServer(settings: ["fsync=off"])
        defer { database.end() }
        let proxy = try SilentProxy(to: database.folder)
        defer { proxy.end() }
        let tool = try ProbeProcess("tideline")
        let server = try tool.start([
            "serve", "--port", "0", "--query-timeout", "1", "--store",
            "postgresql:host=127.0.0.1,port=\(proxy.port),dbname=postgres,user=postgres,"
                + "connect_timeout=2,busy-timeout=1,response-timeout=1",
        ])
        try await suspendUntil("the server to listen") { try tool.output(server).out.contains("listening on") }
        let url = try #require(try tool.output(server).out.split(whereSeparator: \.isWhitespace).last.map(String.init))
        let items = "\(url)/tables/TodoItem"
        // On a busy machine, the database may respond later than the server waits.
        try await suspendUntil("a first write") { try Self.status(items, Self.insert).hasPrefix("201") }
        let thaw = try outage.begin(database, proxy)
        defer { thaw() }
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<40 {
                let isWrite = number.isMultiple(of: 4)
                let path = !isWrite && number.isMultiple(of: 3) ? "\(url)/.changes?tables=TodoItem" : items
                group.addTask { try Self.status(path, isWrite ? Self.insert : []) }
            }
            for try await answer in group { #expect(answer == "503 1") }
        }
        #expect(try Self.status("\(url)/.ready") == "503 1")
        #expect(try Self.status("\(url)/.health").hasPrefix("200"))
        thaw()
        try await suspendUntil("the server to be ready") { try Self.status("\(url)/.ready").hasPrefix("200") }
        try await suspendUntil("a write") { try Self.status(items, Self.insert).hasPrefix("201") }
    }

    /// The open sessions of a server that was demoted, or whose operator has stopped writes, change as well.
    @Test func theSessionsOfADatabaseThatNoLongerAcceptsWritesAreReplaced() throws {
        let server = try TestServer(settings: ["fsync=off"])
        defer { server.end() }
        let store = try PostgreSQLStore(connection: server.connection(), options: .patient())
        try store.define([Self.table])
        let plain = try PlainConnection(server.connection())
        func sessions() throws -> [[String?]] {
            try plain.query("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'tideline%' ORDER BY pid")
        }
        _ = try store.read { outer in
            try store.read { _ in try outer.count(TableQuery("t")) }
        }
        let before = try sessions()
        #expect(before.count == 3)
        try plain.query("ALTER SYSTEM SET default_transaction_read_only = on")
        try plain.query("SELECT pg_reload_conf()")
        try waitUntil("a write to be refused") {
            do {
                try store.write { try $0.upsert(["id": "1"], into: "t") }
                return false
            } catch let error as StoreError where error.code == .readOnly {
                return true
            }
        }
        try waitUntil("the sessions to end") { try sessions().isEmpty }
        _ = try store.read { try $0.count(TableQuery("t")) }
        try plain.query("SET default_transaction_read_only = off")
        try plain.query("ALTER SYSTEM RESET default_transaction_read_only")
        try plain.query("SELECT pg_reload_conf()")
        try waitUntil("a write to be accepted") {
            (try? store.write { try $0.upsert(["id": "2"], into: "t") }) != nil
        }
        try store.close()
    }
}
#endif
