internal import CPostgreSQL
internal import Foundation
internal import TidelineStore

/// A connection to the server with its prepared statements. Used by one thread at a time, which the pool guarantees.
///
/// Every wait for the server has a limit: the system notices a machine that is gone, but not a server that is frozen or
/// a pooler that has no connection to it.
final class Connection {
    /// How long to wait for the response to a statement.
    enum Limit {
        /// This time; if nothing arrives beyond it, the connection is closed.
        case time(Duration)
        /// As long as the server responds on another connection.
        case serverResponds
    }

    private let handle: OpaquePointer
    /// The server and the database, for error messages.
    let place: String
    /// The limit of the next statements.
    var limit: Limit
    /// How transactions begin and end.
    var settings = Settings()
    /// The time after which ``Limit/serverResponds`` is checked, again and again.
    private let responseTimeout: Duration
    /// Whether the server responds on another connection.
    private let serverResponds: () -> Bool
    /// Whether the connection was closed because the server did not respond.
    private(set) var hasTimedOut = false
    /// The names of the prepared statements, by their text.
    private var prepared: [String: String] = [:]
    private var preparedCount = 0
    /// The beginning of the names, which no other connection has: a pooler can pass the statements of one connection to
    /// the session of another.
    private let namePrefix = "tideline_\(String(UInt64.random(in: 0 ... .max), radix: 36))_"
    /// Whether each transaction may be in another session, so that nothing of a session can be used by the next one.
    private(set) var isPooled = false
    /// The statements that are sent with the next one.
    private var waiting: [Statement] = []
    private var isClosed = false
    private let process = OpeningProcess()

    /// The maximum number of prepared statements; beyond it, all are removed.
    private static let maximumPrepared = 256
    /// The maximum number of statements that wait, and of the bytes of the parameters of one. More need their time
    /// anyway, and the server could not take them while it sends results.
    private static let maximumWaiting = 16
    private static let maximumWaitingBytes = 64 << 10

    /// A statement that was not sent yet.
    private struct Statement {
        /// The name of a prepared statement, or `nil` for one that is prepared when it is sent.
        var name: String?
        let sql: String
        let parameters: Parameters
        let doing: String
        var table: String?
    }

    static let rejected = "the server rejected a statement"

    /// - Parameters:
    ///   - responseTimeout: The limit of statements until another one is set.
    ///   - serverResponds: Returns whether the server responds on another connection.
    init(
        _ handle: OpaquePointer, place: String, responseTimeout: Duration, serverResponds: @escaping () -> Bool
    ) {
        self.handle = handle
        self.place = place
        self.responseTimeout = responseTimeout
        self.serverResponds = serverResponds
        limit = .time(responseTimeout)
        // Sending must not wait without a limit, either.
        PQsetnonblocking(handle, 1)
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

    /// Finds out whether a pooler, which has process numbers of its own, is between this connection and its session.
    ///
    /// - Parameter process: The number of the session's process, as text.
    func findPooler(_ process: String?) { isPooled = process != String(PQbackendPID(handle)) }

    // MARK: Statements

    /// Runs statements without parameters in one round trip and returns the result of the last one, in text format.
    @discardableResult
    func execute(_ script: String, doing: String = Connection.rejected) throws(StoreError) -> QueryRows {
        try runWaiting()
        return try result(of: PQsendQuery(handle, script), doing)
    }

    /// Runs a statement that is prepared once and kept.
    @discardableResult
    func run(
        _ sql: String, _ parameters: Parameters = Parameters(), doing: String = Connection.rejected
    ) throws(StoreError) -> QueryRows {
        let statement = try statement(sql, parameters, doing)
        guard waiting.isEmpty else { return try runWaiting(with: statement) }
        return try result(of: send(statement), doing)
    }

    /// Runs a statement whose result is not needed, in the round trip of the next one. If it fails, the next one throws
    /// its error, with the given table, and is not run.
    func runLater(_ sql: String, _ parameters: Parameters = Parameters(), table: String? = nil) throws(StoreError) {
        var statement = try statement(sql, parameters, Self.rejected)
        statement.table = table
        guard waiting.count < Self.maximumWaiting, parameters.byteCount <= Self.maximumWaitingBytes else {
            try runWaiting(with: statement)
            return
        }
        waiting.append(statement)
    }

    /// Forgets the statements that were not sent yet.
    func forgetWaiting() { waiting.removeAll() }

    /// Runs a statement once, without keeping it. The server plans it for its parameters.
    @discardableResult
    func runOnce(_ sql: String, _ parameters: Parameters = Parameters()) throws(StoreError) -> QueryRows {
        try requireOpen()
        let statement = Statement(name: nil, sql: sql, parameters: parameters, doing: Self.rejected)
        guard waiting.isEmpty else { return try runWaiting(with: statement) }
        return try result(of: send(statement), Self.rejected)
    }

    private func runWaiting() throws(StoreError) {
        try requireOpen()
        if let last = waiting.popLast() { try runWaiting(with: last) }
    }

    /// Sends the statements that wait and a last one, and returns the result of that one.
    @discardableResult
    private func runWaiting(with last: Statement) throws(StoreError) -> QueryRows {
        let statements = waiting + [last]
        waiting.removeAll(keepingCapacity: true)
        guard PQenterPipelineMode(handle) == 1, statements.allSatisfy({ send($0) == 1 }), PQpipelineSync(handle) == 1
        else {
            // What the server has received is not known.
            defer { close() }
            throw .postgreSQL(nil, on: handle, path: place, doing: last.doing)
        }
        var outcome = try receive(for: statements[0])
        for statement in statements.dropFirst() {
            let next = try receive(for: statement)
            // The server skips the statements after one that failed.
            if case .success = outcome { outcome = next }
        }
        PQclear(try nextResult(last.doing))
        if PQexitPipelineMode(handle) == 0 { close() }
        return try outcome.get()
    }

    private func receive(for statement: Statement) throws(StoreError) -> Result<QueryRows, StoreError> {
        let result = try nextResult(statement.doing)
        while !isLost, let end = try nextResult(statement.doing) { PQclear(end) }
        do throws(StoreError) {
            return .success(try checked(result, statement.doing))
        } catch {
            return .failure(statement.table.map { error.inTable($0) } ?? error)
        }
    }

    private func statement(
        _ sql: String, _ parameters: Parameters, _ doing: String
    ) throws(StoreError) -> Statement {
        try requireOpen()
        let name = isPooled ? nil : try prepare(sql, parameters.types)
        return Statement(name: name, sql: sql, parameters: parameters, doing: doing)
    }

    private func send(_ statement: Statement) -> Int32 {
        let count = Int32(clamping: statement.parameters.count)
        return statement.parameters.withPointers { values, lengths, formats in
            guard let name = statement.name else {
                return PQsendQueryParams(
                    handle, statement.sql, count, statement.parameters.types, values, lengths, formats, 1)
            }
            return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
        }
    }

    private func prepare(_ sql: String, _ types: [Oid]) throws(StoreError) -> String {
        if let name = prepared[sql] { return name }
        if prepared.count >= Self.maximumPrepared {
            // Runs the statements that wait first.
            try execute("DEALLOCATE ALL")
            prepared.removeAll()
        }
        preparedCount += 1
        let name = "\(namePrefix)\(preparedCount)"
        _ = try result(of: PQsendPrepare(handle, name, sql, Int32(clamping: types.count), types), Self.rejected)
        prepared[sql] = name
        return name
    }

    private func requireOpen() throws(StoreError) {
        guard !isClosed else { throw StoreError(.closed, "the connection is closed", path: place) }
    }

    // MARK: Results

    /// Returns the last result of what was sent, or the first error.
    private func result(of sent: Int32, _ doing: String) throws(StoreError) -> QueryRows {
        guard sent == 1 else { throw .postgreSQL(nil, on: handle, path: place, doing: doing) }
        var outcome: QueryRows?
        var failure: StoreError?
        while let result = try nextResult(doing) {
            do throws(StoreError) {
                outcome = try checked(result, doing)
            } catch {
                failure = failure ?? error
            }
            if isLost { break }
        }
        if let failure { throw failure }
        guard let outcome else { throw .postgreSQL(nil, on: handle, path: place, doing: doing) }
        return outcome
    }

    /// Waits for the next result, or `nil` at the end of those of a statement.
    ///
    /// - Throws: ``StoreError/Code/io`` if the server does not respond in time; the connection is closed then.
    private func nextResult(_ doing: String) throws(StoreError) -> OpaquePointer? {
        guard awaitResult() else {
            hasTimedOut = true
            close()
            throw StoreError(
                .io, "\(doing): the server did not respond in time, and the connection was closed; try again",
                path: place)
        }
        return PQgetResult(handle)
    }

    /// Sends what libpq has buffered, and receives until it has a result. Returns `false` after the time limit.
    private func awaitResult() -> Bool {
        var isSent = PQflush(handle) != 1
        guard !isSent || PQisBusy(handle) != 0 else { return true }
        let first = if case .time(let duration) = limit { duration } else { responseTimeout }
        var end = ContinuousClock.now + first
        while !isSent || PQisBusy(handle) != 0 {
            let wait: Duration = max(end - .now, .zero)
            // Without a socket, the result is an error.
            let descriptor = PQsocket(handle)
            guard descriptor >= 0 else { return true }
            var socket = pollfd(fd: descriptor, events: Int16(isSent ? POLLIN : POLLIN | POLLOUT), revents: 0)
            // Signals end it early. A response that has arrived is received also after the time limit: this thread may
            // have stood still, and not the server.
            let ready = poll(&socket, 1, Int32(clamping: Int((wait / .milliseconds(1)).rounded(.up))))
            if socket.revents & Int16(~POLLOUT) != 0, PQconsumeInput(handle) == 0 { return true }
            if !isSent { isSent = PQflush(handle) != 1 }
            guard ready <= 0, wait == .zero else { continue }
            guard case .serverResponds = limit, serverResponds() else { return false }
            end = .now + responseTimeout
        }
        return true
    }

    private func checked(_ result: OpaquePointer?, _ doing: String) throws(StoreError) -> QueryRows {
        guard let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            defer { PQclear(result) }
            throw .postgreSQL(result, on: handle, path: place, doing: doing)
        }
        return QueryRows(result)
    }
}
