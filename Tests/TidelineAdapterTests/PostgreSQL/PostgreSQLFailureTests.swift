#if PostgreSQL && Tool
import Foundation
import Synchronization
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests connections that are lost and servers that die, at every point of a transaction.
@Suite(.needsPostgreSQL) struct PostgreSQLFailureTests {
    private static let table = TableSchema("t", columns: [.int("n")])

    /// Ends all connections to a database except that of the caller.
    private func endConnections(to connection: String) throws {
        try PlainConnection(connection).query(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    /// A body that ignores the error must not commit without the lost changes.
    @Test(arguments: [false, true])
    func aWriteWhoseConnectionIsLostLeavesNothing(_ ignores: Bool) throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(Self.table)
        try store.write { try $0.upsert(["id": "before"], into: "t") }
        let error = expectError(.io) {
            try store.write { writer throws in
                try writer.upsert(["id": "lost"], into: "t")
                try endConnections(to: connection)
                do { try writer.upsert(["id": "later"], into: "t") } catch  where ignores {}
            }
        }
        #expect(ignores || error?.message.contains("lost") == true || error?.message.contains("terminating") == true)
        #expect(try ids(store) == ["before"])
        try store.write { try $0.upsert(["id": "after"], into: "t") }
        #expect(try ids(store) == ["after", "before"])
        try store.close()
    }

    @Test func idleConnectionsThatWereLostAreReplaced() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(Self.table)
        for number in 0..<3 {
            try endConnections(to: connection)
            try store.write { try $0.upsert(["id": .string("\(number)")], into: "t") }
            try endConnections(to: connection)
            #expect(try ids(store).count == number + 1)
            try endConnections(to: connection)
            #expect(try store.externalCommits?.number() != nil)
        }
        try store.close()
    }

    /// The server ends the connection when it carries out the commit, before the commit takes effect.
    @Test func aCommitWhoseConnectionIsLostIsReportedAsUnknown() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(Self.table)
        try PlainConnection(connection).query(
            """
            CREATE FUNCTION ends() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER ends AFTER INSERT ON tideline.t DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW WHEN (NEW.n = 1) EXECUTE FUNCTION ends()
            """)
        let error = expectError(.io) { try store.write { try $0.upsert(["id": "1", "n": 1], into: "t") } }
        #expect(error?.message.contains("not known") == true)
        #expect(try ids(store) == [])
        try store.write { try $0.upsert(["id": "2", "n": 2], into: "t") }
        #expect(try ids(store) == ["2"])
        try store.close()
    }

    /// The server has carried out the commit and waits for a replica that does not exist.
    @Test func aCommitThatTookEffectButWasNotConfirmedIsReportedAsUnknown() throws {
        let server = try TestServer(settings: ["synchronous_standby_names=missing"])
        defer { server.end() }
        let local = "\(server.connection()) options='-c synchronous_commit=local'"
        let preparing = try PostgreSQLStore(connection: local, options: .patient())
        try preparing.define([Self.table])
        let store = try PostgreSQLStore(connection: server.connection(), options: .patient())
        let before = try #require(try store.externalCommits?.number())
        let watcher = Thread {
            // Ends the connection as soon as it waits for the replica.
            for _ in 0..<6_000 {
                let ended = try? PlainConnection(local).query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
                if ended?.isEmpty == false { return }
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
        watcher.start()
        let error = expectError(.io) { try store.write { try $0.upsert(["id": "1"], into: "t") } }
        #expect(error?.message.contains("not known") == true)
        #expect(try ids(store) == ["1"])
        // The store cannot count the commit as its own, so that observers look again.
        #expect(try store.externalCommits?.number() != before)
        try store.close()
        try preparing.close()
    }

    /// The process that sent the commit may have been killed since. A store that is opened after that has it from the
    /// beginning.
    @Test func aStoreIsOpenedAfterTheWritesInProgress() throws {
        let server = try TestServer()
        defer { server.end() }
        let store = try PostgreSQLStore(connection: server.connection(), options: .patient())
        try store.define([Self.table])
        let opened = DispatchSemaphore(value: 0)
        let rows = Mutex<[String]>([])
        try store.write { writer in
            try writer.upsert(["id": "1"], into: "t")
            Thread.detachNewThread {
                defer { opened.signal() }
                guard let other = try? PostgreSQLStore(connection: server.connection(), options: .patient())
                else { return }
                let ids = try? ids(other)
                rows.withLock { $0 = ids ?? [] }
                try? other.close()
            }
            let observer = try PlainConnection(server.connection())
            try waitUntil("an opening that waits, or one that does not") {
                guard opened.wait(timeout: .now()) != .success else {
                    opened.signal()
                    return true
                }
                return try observer.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'").count == 1
            }
        }
        try opened.finish("the store to open")
        #expect(rows.withLock { $0 } == ["1"])
        try store.close()
    }

    @Test func commitsSurviveTheDeathOfTheServer() throws {
        let server = try TestServer()
        defer { server.end() }
        let store = try PostgreSQLStore(connection: server.connection(), options: .patient())
        #expect(store.capabilities.durability == .full)
        try store.define([Self.table])
        for round in 0..<3 {
            for number in 0..<20 {
                try store.write { try $0.upsert(["id": .string("\(round)-\(number)")], into: "t") }
            }
            // A transaction that is in progress when the server dies.
            expectError(.io) {
                try store.write { writer throws in
                    try writer.upsert(["id": "lost"], into: "t")
                    try server.kill()
                }
            }
            let error = expectError(.io) { _ = try store.read { try $0.count(TableQuery("t")) } }
            #expect(error?.message.contains("check that the server runs") == true)
            try server.restart()
            #expect(try store.read { try $0.count(TableQuery("t")) } == (round + 1) * 20)
        }
        try store.close()
    }

    @Test func aLockHeldForTooLongIsBusy() throws {
        let (holder, connection) = try TestServer.makeStoreInDatabase(Self.table)
        let other = try PostgreSQLStore(
            connection: connection, options: PostgreSQLOptions(busyTimeout: .milliseconds(20)))
        try expectBusy(other, besides: holder)
    }

    private func ids(_ store: PostgreSQLStore) throws -> [String] {
        try store.read { try $0.rows(matching: TableQuery("t")).rows.map(\.idText) }
    }
}
#endif
