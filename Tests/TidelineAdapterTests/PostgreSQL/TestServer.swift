#if PostgreSQL && Tool
import CPostgreSQL
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestSupport

@testable import TidelineTool

/// A PostgreSQL server in a temporary folder.
typealias TestServer = DatabaseServer

extension DatabaseServer {
    /// The server of all tests that do not need their own. It does not wait for the disk.
    static let shared = Result { try DatabaseServer(settings: ["fsync=off", "full_page_writes=off"]) }

    /// Runs SQL as another program would and returns the rows as text, with `nil` for null.
    @discardableResult
    func query(_ sql: String) throws -> [[String?]] { try PlainConnection(connection()).query(sql) }

    /// Makes a database and returns its connection string.
    func makeDatabase(_ options: String = "") throws -> String {
        let name = "d\(UInt64.random(in: 0 ... .max))"
        try query("CREATE DATABASE \(name) \(options)")
        return connection(to: name)
    }

    /// Opens a store in a schema of its own.
    static func makeStore(_ tables: TableSchema...) throws -> PostgreSQLStore {
        let options = PostgreSQLOptions.patient(schema: "s\(UInt64.random(in: 0 ... .max))")
        let store = try PostgreSQLStore(connection: try shared.get().connection(), options: options)
        try store.define(tables)
        return store
    }

    /// Opens a store in a database of its own, and returns the connection string as well.
    static func makeStoreInDatabase(
        _ tables: TableSchema..., options: PostgreSQLOptions = .patient()
    ) throws -> (PostgreSQLStore, String) {
        let connection = try shared.get().makeDatabase()
        let store = try PostgreSQLStore(connection: connection, options: options)
        try store.define(tables)
        return (store, connection)
    }
}

extension PostgreSQLOptions {
    /// Options for tests of a server that responds, which takes long on a busy machine.
    static func patient(schema: String = PostgreSQLOptions().schema) -> PostgreSQLOptions {
        let limit = Duration.seconds(WaitLimit.seconds)
        return PostgreSQLOptions(schema: schema, busyTimeout: limit, responseTimeout: limit)
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs tests only where PostgreSQL's server is installed.
    static var needsPostgreSQL: Self {
        .enabled(if: TestServer.isInstalled, "PostgreSQL's server is not installed (package postgresql)")
    }
}

/// A connection of another program to a database.
final class PlainConnection {
    private let handle: OpaquePointer

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(_ connection: String) throws {
        guard let handle = PQconnectdb(connection), PQstatus(handle) == CONNECTION_OK else {
            throw Failure(description: "no connection")
        }
        self.handle = handle
        tideline_silence(handle)
    }

    deinit { PQfinish(handle) }

    /// Runs SQL and returns the rows of the last statement as text, with `nil` for null.
    @discardableResult
    func query(_ sql: String) throws -> [[String?]] {
        let result = PQexec(handle, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw Failure(description: String(cString: PQerrorMessage(handle)))
        }
        return (0..<PQntuples(result)).map { row in
            (0..<PQnfields(result)).map { column in
                PQgetisnull(result, row, column) != 0 ? nil : String(cString: PQgetvalue(result, row, column))
            }
        }
    }
}
#endif
