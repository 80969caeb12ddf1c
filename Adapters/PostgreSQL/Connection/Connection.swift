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
    /// The statements that are sent with the next one.
    private var waiting: [WaitingStatement] = []
    private var isClosed = false
    private let process = OpeningProcess()

    /// The maximum number of prepared statements; beyond it, all are removed.
    private static let maximumPrepared = 256
    /// The maximum number of statements that wait, and of the bytes of the parameters of one. More need their time
    /// anyway, and the server could not take them while it sends results.
    private static let maximumWaiting = 16
    private static let maximumWaitingBytes = 64 << 10

    /// A prepared statement that was not sent yet.
    private struct WaitingStatement {
        let name: String
        let parameters: Parameters
        let doing: String
        var table: String?
    }

    static let rejected = "the server rejected a statement"

    init(_ handle: OpaquePointer, place: String) {
        self.handle = handle
        self.place = place
    }

    deinit { close() }

    /// Closes the connection. Closing it again does nothing.
    func close() {
        // In a child of the process that opened it, the connection belongs to the parent, whose session would end.
        guard !isClosed, !process.isForked else { return }
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
    func execute(_ script: String, doing: String = Connection.rejected) throws(StoreError) -> QueryRows {
        try runWaiting()
        return try checked(PQexec(handle, script), doing)
    }

    /// Runs a statement that is prepared once and kept.
    @discardableResult
    func run(
        _ sql: String, _ parameters: Parameters = Parameters(), doing: String = Connection.rejected
    ) throws(StoreError) -> QueryRows {
        try requireOpen()
        let name = try prepare(sql, parameters.types)
        guard waiting.isEmpty else {
            return try runWaiting(with: WaitingStatement(name: name, parameters: parameters, doing: doing))
        }
        let result = parameters.withPointers { values, lengths, formats in
            PQexecPrepared(handle, name, Int32(clamping: parameters.count), values, lengths, formats, 1)
        }
        return try checked(result, doing)
    }

    /// Runs a statement whose result is not needed, in the round trip of the next one. If it fails, the next one throws
    /// its error, with the given table, and is not run.
    func runLater(_ sql: String, _ parameters: Parameters = Parameters(), table: String? = nil) throws(StoreError) {
        try requireOpen()
        let statement = WaitingStatement(
            name: try prepare(sql, parameters.types), parameters: parameters, doing: Self.rejected, table: table)
        guard waiting.count < Self.maximumWaiting, parameters.byteCount <= Self.maximumWaitingBytes else {
            try runWaiting(with: statement)
            return
        }
        waiting.append(statement)
    }

    /// Forgets the statements that were not sent yet.
    func forgetWaiting() { waiting.removeAll() }

    /// Runs a statement once, without keeping it.
    @discardableResult
    func runOnce(_ sql: String, _ parameters: Parameters = Parameters()) throws(StoreError) -> QueryRows {
        try runWaiting()
        let result = parameters.withPointers { values, lengths, formats in
            PQexecParams(
                handle, sql, Int32(clamping: parameters.count), parameters.types, values, lengths, formats, 1)
        }
        return try checked(result, Self.rejected)
    }

    private func runWaiting() throws(StoreError) {
        try requireOpen()
        if let last = waiting.popLast() { try runWaiting(with: last) }
    }

    /// Sends the statements that wait and a last one, and returns the result of that one.
    @discardableResult
    private func runWaiting(with last: WaitingStatement) throws(StoreError) -> QueryRows {
        let statements = waiting + [last]
        waiting.removeAll(keepingCapacity: true)
        guard send(statements) else {
            // What the server has received is not known.
            defer { close() }
            throw .postgreSQL(nil, on: handle, path: place, doing: last.doing)
        }
        var outcome = receive(for: statements[0])
        for statement in statements.dropFirst() {
            let next = receive(for: statement)
            // The server skips the statements after one that failed.
            if case .success = outcome { outcome = next }
        }
        PQclear(PQgetResult(handle))
        if PQexitPipelineMode(handle) == 0 { close() }
        return try outcome.get()
    }

    private func send(_ statements: [WaitingStatement]) -> Bool {
        PQenterPipelineMode(handle) == 1
            && statements.allSatisfy { statement in
                let count = Int32(clamping: statement.parameters.count)
                return statement.parameters.withPointers { values, lengths, formats in
                    PQsendQueryPrepared(handle, statement.name, count, values, lengths, formats, 1) == 1
                }
            } && PQpipelineSync(handle) == 1
    }

    private func receive(for statement: WaitingStatement) -> Result<QueryRows, StoreError> {
        let result = PQgetResult(handle)
        while !isLost, let end = PQgetResult(handle) { PQclear(end) }
        do throws(StoreError) {
            return .success(try checked(result, statement.doing))
        } catch {
            return .failure(statement.table.map { error.inTable($0) } ?? error)
        }
    }

    private func prepare(_ sql: String, _ types: [Oid]) throws(StoreError) -> String {
        let text = StatementText(sql)
        if let name = prepared[text] { return name }
        if prepared.count >= Self.maximumPrepared {
            // Runs the statements that wait first.
            try execute("DEALLOCATE ALL")
            prepared.removeAll()
        }
        preparedCount += 1
        let name = "tideline_\(preparedCount)"
        _ = try checked(
            PQprepare(handle, name, sql, Int32(clamping: types.count), types), Self.rejected)
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
