#if PostgreSQL && Tool
import Foundation
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests stores whose connections lead through PgBouncer, in each mode in which transactions are possible.
@Suite(
    .enabled(
        if: TestServer.isInstalled && Pooler.isInstalled,
        "PostgreSQL's server or PgBouncer is not installed (packages postgresql and pgbouncer)"))
struct PostgreSQLPoolerTests {
    private static let table = TableSchema("t", columns: [.int("n")])

    @Test(arguments: ["transaction", "session"])
    func storesShareTheSessionsOfAPooler(_ mode: String) throws {
        let pooler = try Pooler(mode: mode, sessions: mode == "session" ? 20 : 2)
        defer { pooler.end() }
        let stores = try [.full, .normal].map {
            try PostgreSQLStore(
                connection: pooler.connection,
                options: PostgreSQLOptions(durability: $0, busyTimeout: .seconds(300), responseTimeout: .seconds(300)))
        }
        try stores[0].define([Self.table])
        try writeAndRead(stores)
        #expect(try stores[0].read { try $0.count(TableQuery("t")) } == 200)
        if mode == "transaction" {
            // Other clients of the pooler get the sessions as they were.
            let plain = try PlainConnection(pooler.connection)
            for _ in 0..<4 {
                #expect(
                    try plain.query(
                        """
                        SELECT current_setting('synchronous_commit'), current_setting('lock_timeout'),
                            current_setting('statement_timeout'), (SELECT count(*) FROM pg_prepared_statements)
                        """) == [["on", "0", "0", "0"]])
            }
        }
    }

    private struct WrongRow: Error { var id: RowID, row: Row? }

    /// Writes and reads 50 rows on each of four threads, through the stores in turn.
    private func writeAndRead(_ stores: [PostgreSQLStore]) throws {
        try onThreads(4) { thread in
            for number in 0..<50 {
                let (store, id) = (stores[(thread + number) % 2], RowID.string("\(thread)-\(number)"))
                try store.write { writer throws in
                    _ = try writer.count(TableQuery("t").filter(.column("n") == .literal(.int(Int64(number)))))
                    var row = Row(id: id)
                    row["n"] = .int(Int64(number))
                    try writer.upsert(row, into: "t")
                }
                let row = try store.read { try $0.row(in: "t", id: id) }
                guard row?["n"]?.int == Int64(number) else { throw WrongRow(id: id, row: row) }
            }
        }
    }

    /// Another client of the pooler may have lowered the durability of its session for the next ones.
    @Test func durabilityDoesNotDependOnTheSession() throws {
        let pooler = try Pooler(mode: "transaction", sessions: 1)
        defer { pooler.end() }
        let store = try PostgreSQLStore(connection: pooler.connection, options: .patient())
        try store.define([Self.table])
        try PlainConnection(pooler.database).query(
            """
            CREATE TABLE public.seen (setting text);
            CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN INSERT INTO public.seen VALUES (current_setting(''synchronous_commit'')); RETURN NULL; END';
            CREATE TRIGGER see AFTER INSERT ON tideline.t EXECUTE FUNCTION see()
            """)
        try PlainConnection(pooler.connection).query("SET synchronous_commit = off")
        try store.write { try $0.upsert(["id": "1"], into: "t") }
        #expect(try PlainConnection(pooler.database).query("SELECT setting FROM public.seen") == [["on"]])
    }

    @Test func aPoolerWithoutAFreeSessionIsAnError() throws {
        let pooler = try Pooler(mode: "transaction", sessions: 1)
        defer { pooler.end() }
        let store = try PostgreSQLStore(
            connection: "\(pooler.connection) connect_timeout=2",
            options: PostgreSQLOptions(busyTimeout: .milliseconds(100), responseTimeout: .milliseconds(500)))
        try store.define([Self.table])
        let other = try PlainConnection(pooler.connection)
        try other.query("BEGIN")
        expectError(.io) { _ = try store.read { try $0.count(TableQuery("t")) } }
        expectError(.io) { try store.write { try $0.upsert(["id": "1"], into: "t") } }
        try other.query("ROLLBACK")
        try waitUntil("a free session") { (try? store.write { try $0.upsert(["id": "2"], into: "t") }) != nil }
        #expect(try store.read { try $0.rows(matching: TableQuery("t")).rows.map(\.idText) } == ["2"])
    }
}

/// PgBouncer in a temporary folder.
private final class Pooler {
    private static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    static let isInstalled = program != nil

    private let folder = "/tmp/tideline-pooler-\(UInt64.random(in: 0 ..< 1 << 40))"
    private let process = Process()
    /// The connection string of a new database without the pooler.
    let database: String
    /// The connection string of the database through the pooler.
    var connection: String { pooled(database) }

    /// - Parameter sessions: The maximum number of sessions in a database.
    init(mode: String, sessions: Int) throws {
        let server = try TestServer.shared.get()
        database = try server.makeDatabase()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
        let configuration = """
            [databases]
            * = host=\(server.folder) user=postgres
            [pgbouncer]
            listen_port = 6432
            unix_socket_dir = \(folder)
            auth_type = any
            pool_mode = \(mode)
            default_pool_size = \(sessions)
            max_client_conn = 100
            """
        let file = "\(folder)/pgbouncer.ini"
        try configuration.write(toFile: file, atomically: true, encoding: .utf8)
        let user = getuid() == 0 ? ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] : []
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = user + [Self.program ?? "", "-q", file]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let connection = pooled("dbname=postgres")
        try waitUntil("the pooler") { (try? PlainConnection(connection)) != nil }
    }

    /// Returns the connection string of a database through the pooler.
    private func pooled(_ direct: String) -> String {
        let database = direct.split(separator: " ").first { $0.hasPrefix("dbname=") } ?? ""
        return "host=\(folder) port=6432 \(database) user=postgres"
    }

    func end() {
        process.end()
        process.waitUntilExit()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
#endif
