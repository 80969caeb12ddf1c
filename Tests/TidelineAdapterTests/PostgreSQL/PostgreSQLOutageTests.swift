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
        let store = try PostgreSQLStore(
            connection: "host=127.0.0.1 port=\(proxy.port) dbname=postgres user=postgres connect_timeout=2",
            options: PostgreSQLOptions(busyTimeout: .milliseconds(100), responseTimeout: .milliseconds(500)))
        try store.define([Self.table])
        try store.write { try $0.upsert(["id": "1", "n": 1], into: "t") }
        return store
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
                        try reader.limitTime?(.milliseconds(100))
                        _ = try reader.count(TableQuery("t"))
                        try begin()
                        _ = try reader.count(TableQuery("t"))
                    }
                }
                #expect(error?.message.contains("did not respond in time") == true)
            case .withinWrite, .withinScanOfWrite:
                expectError(.io) {
                    try store.write { writer throws in
                        if self == .withinScanOfWrite { try writer.limitTime?(.milliseconds(100)) }
                        try writer.upsert(["id": "2"], into: "t")
                        try begin()
                        if self == .withinWrite { _ = try writer.row(in: "t", id: "1") }
                        _ = try writer.count(TableQuery("t"))
                    }
                }
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
        var thaw = {}
        defer { thaw() }
        try moment.meet(store) { thaw = try outage.begin(server, proxy) }
        for _ in 0..<2 {
            let isNew = moment == .before && outage.acceptsConnections
            if !isNew {
                #expect(throws: StoreError.self) { try store.write { try $0.upsert(["id": "3"], into: "t") } }
            }
        }
        thaw()
        thaw = {}
        try waitUntil("the store to be used again") {
            (try? store.write { try $0.upsert(["id": "4"], into: "t") }) != nil
                && (try? store.read { try $0.row(in: "t", id: "4") }) != nil
        }
        #expect(try store.read { try $0.row(in: "t", id: "2") } == nil)
        try store.close()
    }

    /// A query is slow for a reason, as long as the server responds.
    @Test func aQueryThatTakesLongerThanAResponseIsNotEnded() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(
            Self.table, options: PostgreSQLOptions(responseTimeout: .milliseconds(100)))
        try store.write { try $0.upsert(["id": "1", "n": 1], into: "t") }
        try PlainConnection(connection).query(
            """
            ALTER TABLE tideline.t RENAME TO u;
            CREATE VIEW tideline.t AS SELECT u.* FROM tideline.u, LATERAL (SELECT pg_sleep(1) WHERE u.n > 0) AS pause
            """)
        #expect(try store.read { try $0.count(TableQuery("t")) } == 1)
        try store.close()
    }

    /// The second statement has only the rest of the time. If the store gave up first, it would take the server for
    /// frozen, and fail reads of others.
    @Test func theServerEndsAQueryWhoseStatementsTogetherTakeTooLong() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(Self.table)
        try store.write { try $0.upsert(["id": "1", "n": 1], into: "t") }
        try PlainConnection(connection).query(
            """
            ALTER TABLE tideline.t RENAME TO u;
            CREATE VIEW tideline.t AS
                SELECT u.* FROM tideline.u, LATERAL (SELECT pg_sleep(2.5) WHERE u.n > 0) AS pause
            """)
        expectError(.timeLimit) {
            try store.read { reader throws in
                try reader.limitTime?(.seconds(3))
                _ = try reader.rows(matching: TableQuery("t").includingTotalCount())
            }
        }
        #expect(try store.read { try $0.row(in: "t", id: "2") } == nil)
        try store.close()
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
        _ = try store.read { outer in
            try store.read { _ in try outer.count(TableQuery("t")) }
        }
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
        let output = ["-s", "-o", "/dev/null", "-w", "%{http_code} %header{retry-after}", "-m", "60"]
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
        #expect(try Self.status(items, Self.insert).hasPrefix("201"))
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
        let store = try PostgreSQLStore(connection: server.connection())
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
        #expect(try store.read { try $0.count(TableQuery("t")) } >= 0)
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
