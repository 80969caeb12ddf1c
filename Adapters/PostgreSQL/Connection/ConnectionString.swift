internal import CPostgreSQL
internal import Foundation
internal import TidelineStore

/// Where a store is and how to connect to it: a connection string of libpq, or a URL.
///
/// The string may contain a password, so no message contains any part of it except the server and the database.
struct ConnectionString: Sendable {
    private let text: String
    /// The name of all connections of the stores in the schema.
    private let connectionName: String
    /// The server, the database, and the schema, for error messages.
    let place: String

    init(_ text: String, schema: String) throws(StoreError) {
        self.text = text
        connectionName = "tideline \(schema.nameHash)"
        let settings = try Self.settings(text)
        guard !(settings["host"] ?? "").contains("@") else {
            throw StoreError(
                .io, "the URL of the database has more than one @; write an @ in a user name or password as %40")
        }
        let environment = ProcessInfo.processInfo.environment
        let host = settings["host"] ?? settings["hostaddr"] ?? environment["PGHOST"] ?? "local"
        let port = settings["port"] ?? environment["PGPORT"] ?? "5432"
        let database = settings["dbname"] ?? environment["PGDATABASE"] ?? ""
        place = "postgresql \(host):\(port) database \(database) schema \(schema)"
    }

    /// Returns the settings of a connection string. The message of libpq about an invalid one can contain a password.
    private static func settings(_ text: String) throws(StoreError) -> [String: String] {
        guard text.contains("=") || text.contains("://") else { return text.isEmpty ? [:] : ["dbname": text] }
        var message: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(text, &message)
        defer {
            PQconninfoFree(options)
            PQfreemem(message)
        }
        guard var option = options else {
            throw StoreError(
                .io,
                "the connection string of the database is invalid; write NAME=VALUE settings separated by spaces, with "
                    + "values that contain spaces in single quotes, or postgresql://USER@HOST:PORT/DATABASE")
        }
        var settings: [String: String] = [:]
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { settings[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return settings
    }

    /// A machine that no longer answers is noticed within half a minute, also while a response is awaited. The string
    /// can contain other values. Sockets of the same machine ignore these settings.
    private static let limits = [
        ("keepalives_idle", "10"), ("keepalives_interval", "5"), ("keepalives_count", "3"),
        ("tcp_user_timeout", "25000"),
    ]

    /// Opens a connection. Settings that the string does not contain come from the environment and from files, as for
    /// PostgreSQL's own programs.
    ///
    /// - Parameter responseTimeout: How long to wait for the response to a statement.
    func connect(responseTimeout: Duration) throws(StoreError) -> Connection {
        var settings =
            Self.limits + [("dbname", text), ("application_name", connectionName), ("client_encoding", "UTF8")]
        if ProcessInfo.processInfo.environment["PGCONNECT_TIMEOUT"] == nil {
            // Before the string, which can contain another value.
            settings.insert(("connect_timeout", "10"), at: 0)
        }
        let names = settings.map { strdup($0.0) }
        let values = settings.map { strdup($0.1) }
        defer { for text in names + values { free(text) } }
        let handle = PQconnectdbParams(
            names.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
        guard let handle else { throw StoreError(.io, "there is no memory for a connection", path: place) }
        guard PQstatus(handle) == CONNECTION_OK else {
            defer { PQfinish(handle) }
            let message = PQerrorMessage(handle).map { String(cString: $0).trimmedMessage } ?? ""
            let advice =
                PQconnectionNeedsPassword(handle) != 0
                ? "; the server asks for a password: set PGPASSFILE or PGPASSWORD"
                : PQconnectionUsedPassword(handle) != 0
                    ? "; check the user name, and the password in PGPASSFILE, PGPASSWORD, or the connection string"
                    : "; check that the server runs, that the database exists, and the host and port"
            throw StoreError(.io, "no connection to the database: \(message)\(advice)", path: place)
        }
        tideline_silence(handle)
        return Connection(handle, place: place, responseTimeout: responseTimeout) {
            guard let other = try? connect(responseTimeout: responseTimeout) else { return false }
            defer { other.close() }
            return (try? other.execute("SELECT 1")) != nil
        }
    }
}
