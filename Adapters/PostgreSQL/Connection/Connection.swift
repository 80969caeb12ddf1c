internal import CPostgreSQL
internal import TidelineStore

/// A connection to the server with its prepared statements. Used by one thread at a time, which the pool guarantees.
final class Connection {
    private let handle: OpaquePointer
    /// The server and the database, for error messages.
    let place: String
    /// The names of the prepared statements, by their text.
    private var prepared: [StatementText: String] = [:]
    private var preparedCount = 0
    private var isClosed = false

    /// The maximum number of prepared statements; beyond it, all are removed.
    private static let maximumPrepared = 256

    init(_ handle: OpaquePointer, place: String) {
        self.handle = handle
        self.place = place
    }

    deinit { close() }

    /// Closes the connection. Closing it again does nothing.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        PQfinish(handle)
    }

    /// Whether the connection can no longer be used.
    var isLost: Bool { isClosed || PQstatus(handle) != CONNECTION_OK }

    /// Whether no transaction is open, so that the connection can be used for another one.
    var isIdle: Bool { !isLost && PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// The version of the server's interface, such as 150018.
    var serverVersion: Int { Int(PQserverVersion(handle)) }

    /// Returns a parameter that the server reports, such as `server_encoding`.
    func reported(_ name: String) -> String? { PQparameterStatus(handle, name).map { String(cString: $0) } }

    /// Runs statements without parameters in one round trip and returns the result of the last one, in text format.
    @discardableResult
    func execute(_ script: String, doing: String = "the server rejected a statement") throws(StoreError) -> QueryRows {
        try requireOpen()
        return try checked(PQexec(handle, script), doing)
    }

    /// Runs a statement that is prepared once and kept.
    @discardableResult
    func run(_ sql: String, _ parameters: Parameters = Parameters()) throws(StoreError) -> QueryRows {
        try requireOpen()
        let name = try prepare(sql, parameters.types)
        let result = parameters.withPointers { values, lengths, formats in
            PQexecPrepared(handle, name, Int32(clamping: parameters.count), values, lengths, formats, 1)
        }
        return try checked(result, "the server rejected a statement")
    }

    /// Runs a statement once, without keeping it.
    @discardableResult
    func runOnce(_ sql: String, _ parameters: Parameters = Parameters()) throws(StoreError) -> QueryRows {
        try requireOpen()
        let result = parameters.withPointers { values, lengths, formats in
            PQexecParams(
                handle, sql, Int32(clamping: parameters.count), parameters.types, values, lengths, formats, 1)
        }
        return try checked(result, "the server rejected a statement")
    }

    private func prepare(_ sql: String, _ types: [Oid]) throws(StoreError) -> String {
        let text = StatementText(sql)
        if let name = prepared[text] { return name }
        if prepared.count >= Self.maximumPrepared {
            try execute("DEALLOCATE ALL")
            prepared.removeAll()
        }
        preparedCount += 1
        let name = "tideline_\(preparedCount)"
        _ = try checked(
            PQprepare(handle, name, sql, Int32(clamping: types.count), types), "the server rejected a statement")
        prepared[text] = name
        return name
    }

    private func requireOpen() throws(StoreError) {
        guard !isClosed else { throw StoreError(.closed, "the connection is closed", path: place) }
    }

    private func checked(_ result: OpaquePointer?, _ doing: String) throws(StoreError) -> QueryRows {
        guard let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            defer { PQclear(result) }
            throw .postgreSQL(result, on: handle, path: place, doing: doing)
        }
        return QueryRows(result)
    }
}

/// The text of a statement as a dictionary key, compared byte by byte: canonically equivalent strings can be the names
/// of different tables.
private struct StatementText: Hashable {
    let sql: String

    init(_ sql: String) { self.sql = sql }

    static func == (a: StatementText, b: StatementText) -> Bool { a.sql.isSameBytes(as: b.sql) }

    func hash(into hasher: inout Hasher) {
        var sql = sql
        sql.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
