#if PostgreSQL && Tool
import TidelinePostgreSQL
import TidelineStore

@testable import TidelineTool

/// A PostgreSQL server in a temporary folder.
typealias TestServer = DatabaseServer

extension DatabaseServer {
    /// The server of all tests that do not need their own. It does not wait for the disk.
    static let shared = Result { try DatabaseServer(settings: ["fsync=off", "full_page_writes=off"]) }

    /// Runs SQL as another program would and returns the rows as text, with `nil` for null.
    @discardableResult
    func query(_ sql: String, in database: String = "postgres") throws -> [[String?]] {
        try PlainConnection(connection(to: database)).query(sql)
    }

    /// Makes a database and returns its connection string.
    func makeDatabase(_ options: String = "") throws -> String {
        let name = "d\(UInt64.random(in: 0 ... .max))"
        try query("CREATE DATABASE \(name) \(options)")
        return connection(to: name)
    }

    /// Opens a store in a schema of its own.
    static func makeStore(
        _ tables: TableSchema..., options: PostgreSQLOptions = PostgreSQLOptions()
    ) throws -> PostgreSQLStore {
        var options = options
        options.schema = "s\(UInt64.random(in: 0 ... .max))"
        let store = try PostgreSQLStore(connection: try shared.get().connection(), options: options)
        try store.define(tables)
        return store
    }
}
#endif
