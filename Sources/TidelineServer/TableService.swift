public import HTTPTypes
internal import Synchronization
public import TidelineStore
internal import TidelineWire

/// The server side of the table protocol, in the dialects ZUMO 2 and Datasync 3, over any local store; without
/// networking.
///
/// The service turns a request into a response; the caller owns the connection. Rows are stored with the system columns
/// `createdAt`, `updatedAt`, `version` and `deleted`, which the service sets. `updatedAt` increases with every commit
/// in a table, even after a restart and if the clock goes back. Deletes are soft.
///
/// ```swift
/// let service = try TableService(store: store)
/// let answer = service.handle(request, body: bytes)
/// ```
///
/// Where the original back ends behave unexpectedly, the service does what their clients expect: an insert of an
/// existing id is answered with the server's row, an unknown column in `$filter` gives 400, and `If-Match: *` matches
/// any row. `TidelineSimulation` has options for the original behavior.
///
/// Several services may serve one store at the same time, also in several processes if the store shares its files
/// (``TidelineStore/StoreCapabilities/sharesFilesWithProcesses``). The store keeps the last timestamp of each table, so
/// the order of `updatedAt` is the order of commits regardless of which service wrote a row and of its clock. A service
/// finds tables and columns that another has created.
public final class TableService<Store: LocalStore>: Sendable {
    let store: Store
    let options: TableServiceOptions
    let catalog: TableCatalog<Store>
    /// The clients that wait for changes.
    let changes = ChangeHub()
    private let queue = WriteQueue<Store>()
    /// Whether the store has refused a write.
    private let refusesWrites = Atomic(false)

    /// Creates a service over a store, which the caller must close.
    ///
    /// Existing tables of the store are served if they have all system columns.
    ///
    /// - Throws: The errors of ``LocalStore/define(_:)`` for the tables in the options, which are merged with existing
    ///   ones; ``StoreError/Code/schemaMismatch`` for the store of a client, which contains its queue, for a required
    ///   column that existing rows lack or may lack, for rights of a table that is not served, and for rights that
    ///   contradict each other or the table.
    public init(store: Store, options: TableServiceOptions = TableServiceOptions()) throws {
        self.store = store
        self.options = options
        catalog = try TableCatalog(store: store, options: options)
        try options.validateRights(of: catalog.schemas)
    }

    /// Throws the error of the store if it cannot be read, or if it has refused a write and still does.
    package func checkStore() throws {
        try store.read { _ = try $0.schema(of: ServedTableRecord.schema.name) }
        guard refusesWrites.load(ordering: .relaxed) else { return }
        try store.write { _ = try $0.schema(of: ServedTableRecord.schema.name) }
        refusesWrites.store(false, ordering: .relaxed)
    }

    /// Returns whether a table is known to exist. Does not call the store.
    package func hasTable(_ name: String) -> Bool { catalog.table(name) != nil }

    /// Handles one request, a write in a transaction of its own. Any number of threads can call this method at once; it
    /// returns when the store has finished.
    ///
    /// - Parameters:
    ///   - request: The method, path with query, and headers. The scheme and authority, if present, are used in the
    ///     link to the next page.
    ///   - body: The body, decompressed; may be empty.
    ///   - caller: The user who sent the request, whom the caller of this method has authenticated; anonymous by
    ///     default. ``TableServiceOptions/rights`` specifies what each user may do.
    public func handle(_ request: HTTPRequest, body: [UInt8], caller: Caller = .anonymous) -> TableResponse {
        let began = began
        var attempt = 0
        while true {
            let definitions = catalog.changes
            let outcome = Result {
                switch try step(to: request, body: body, caller: caller) {
                case .respond(let answer): answer
                case .write(let write): try commit { [write] }[0].get()
                }
            }
            attempt += 1
            if let answer = answer(for: outcome, of: request, since: definitions, attempt) {
                note(answer, to: request, began)
                return answer
            }
        }
    }

    /// Returns the response to a request that is refused whatever its body is: one that is invalid, or that the caller
    /// has no right to make. Returns `nil` for any other request. Does not call the store.
    package func refusal(of request: HTTPRequest, caller: Caller) -> TableResponse? {
        let began = began
        do {
            _ = try access(of: caller, for: meaning(of: request).request)
            return nil
        } catch {
            let answer = answer(for: .failure(error), of: request, since: catalog.changes, Self.maximumAttempts)
            if let answer { note(answer, to: request, began) }
            return answer
        }
    }

    /// Handles one request, and commits a write together with the other writes that wait.
    ///
    /// Any number of threads can call this method at once. Work that may wait for the store is passed to `schedule`.
    /// Small writes to known tables are checked before it returns, and wait while a transaction is in progress: the
    /// closure that runs it commits them too, up to 256 in one transaction, until none waits. Each write has a response
    /// of its own; one that is refused does not affect the others.
    ///
    /// - Parameters:
    ///   - request: As in ``handle(_:body:caller:)``.
    ///   - body: The body, decompressed; may be empty.
    ///   - caller: As in ``handle(_:body:caller:)``.
    ///   - schedule: Runs a closure, once, on a thread that may block. By default, that is the calling thread.
    ///   - completion: Called once with the response, after the commit, in a scheduled closure. It must not block.
    public func handle(
        _ request: HTTPRequest, body: [UInt8], caller: Caller = .anonymous,
        schedule: @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() },
        completion: @escaping @Sendable (TableResponse) -> Void
    ) {
        var exchange = Exchange(
            request: request, body: body, caller: caller, definitions: catalog.changes, completion: completion)
        if let began {
            exchange.completion = { answer in
                self.note(answer, to: request, began)
                completion(answer)
            }
        }
        guard let write = writeWithoutStore(exchange) else { return schedule { [exchange] in self.handle(exchange) } }
        if append(write, of: exchange) { schedule { self.commitGroups() } }
    }

    /// Returns the write of a request if it is found without a call of the store and in little time, otherwise `nil`.
    private func writeWithoutStore(_ exchange: Exchange) -> PendingWrite<Store>? {
        guard exchange.request.method != .get, exchange.body.count <= Self.maximumUnscheduledSize,
            case .write(let write)? = try? step(
                to: exchange.request, body: exchange.body, caller: exchange.caller, callsStore: false)
        else { return nil }
        return write
    }

    /// The maximum size in bytes of a body that is parsed on the thread that received it.
    private static var maximumUnscheduledSize: Int { 16 << 10 }

    /// The present time, if requests are timed.
    private var began: ContinuousClock.Instant? { options.onResponse == nil ? nil : .now }

    private func note(_ answer: TableResponse, to request: HTTPRequest, _ began: ContinuousClock.Instant?) {
        guard let began, let onResponse = options.onResponse else { return }
        onResponse(ServedRequest(request: request, response: answer, duration: .now - began))
    }

    /// A request that waits for its response.
    private struct Exchange: Sendable {
        let request: HTTPRequest
        let body: [UInt8]
        let caller: Caller
        /// The value of ``TableCatalog/changes`` before the attempt.
        var definitions: Int
        var attempt = 1
        var completion: @Sendable (TableResponse) -> Void
    }

    private func handle(_ exchange: Exchange) {
        do {
            switch try step(to: exchange.request, body: exchange.body, caller: exchange.caller) {
            case .respond(let answer): finish(exchange, with: .success(answer))
            case .write(let write): if append(write, of: exchange) { commitGroups() }
            }
        } catch {
            finish(exchange, with: .failure(error))
        }
    }

    /// Adds a write to those that wait for a transaction. Returns whether the caller has to see that they are
    /// committed.
    private func append(_ write: PendingWrite<Store>, of exchange: Exchange) -> Bool {
        queue.append(.init(write: write) { self.finish(exchange, with: $0) })
    }

    /// Commits the writes that wait, until there is none.
    private func commitGroups() {
        while queue.hasNext() {
            var group: [WriteQueue<Store>.Entry] = []
            let outcomes = commit {
                group = queue.nextGroup()
                // A key path of a generic type would be created each time.
                return group.map { $0.write }
            }
            for (entry, outcome) in zip(group, outcomes) { entry.completion(outcome) }
        }
    }

    /// Responds with an outcome, or repeats the request if the definition of its table has changed.
    private func finish(_ exchange: Exchange, with outcome: Result<TableResponse, any Error>) {
        if let answer = answer(
            for: outcome, of: exchange.request, since: exchange.definitions, exchange.attempt)
        {
            return exchange.completion(answer)
        }
        var exchange = exchange
        exchange.attempt += 1
        exchange.definitions = catalog.changes
        handle(exchange)
    }

    /// The maximum number of attempts while other services change the table of a request.
    private static var maximumAttempts: Int { 10 }

    /// Returns the response for an outcome, or `nil` if the definition of the table was read again and the request must
    /// be repeated. Nothing was written in this case.
    func answer(
        for outcome: Result<TableResponse, any Error>, of request: HTTPRequest, since definitions: Int, _ attempt: Int
    ) -> TableResponse? {
        var answer: TableResponse
        do {
            do {
                answer = try outcome.get()
            } catch let error where attempt < Self.maximumAttempts {
                if try definitionChanged(error, of: request, since: definitions) { return nil }
                throw error
            }
        } catch var error as StoreError {
            // The rows of a write are found by their ids: the store is slow, and not the request.
            if error.code == .timeLimit, request.method != .get { error.code = .busy }
            if error.code == .readOnly, store.capabilities.isReadOnly {
                answer = TableResponse(.forbidden, error: "the tables of this server can only be read")
            } else {
                if error.code == .readOnly { refusesWrites.store(true, ordering: .relaxed) }
                answer = TableResponse(error)
            }
        } catch {
            answer = TableResponse(failure: error)
        }
        answer.response.headerFields[.date] = HTTPDate.text(of: options.clock())
        return answer
    }

    /// Returns whether a request may have failed because it was processed with an earlier definition of its table.
    ///
    /// - Parameter definitions: The value of ``TableCatalog/changes`` before the request was processed.
    private func definitionChanged(
        _ error: any Error, of request: HTTPRequest, since definitions: Int
    ) throws -> Bool {
        let isOutdated = error is OutdatedDefinition
        switch error {
        case is OutdatedDefinition, is WireError: break
        case let error as RequestRejection:
            guard [.badRequest, .notFound, .internalServerError].contains(error.status) else { return false }
        case let error as StoreError:
            guard [.invalidValue, .unsupportedQuery, .schemaMismatch, .noSuchTable].contains(error.code) else {
                return false
            }
        default: return false
        }
        guard let name = try? meaning(of: request).request.table else { return isOutdated }
        try catalog.refresh(name)
        return isOutdated || catalog.changes != definitions
    }

    private func meaning(of request: HTTPRequest) throws -> (dialect: DialectName, request: TableRequest) {
        let (method, target, headers) = (request.method, request.path ?? "", request.headerFields)
        let dialect = DialectName(of: method, target: target, headers: headers, assumed: options.dialect.name)
        let meaning = try TableRequest(
            method: method, target: target, headers: headers, dialect: dialect,
            maximumPageSize: dialect == .zumo2 ? options.maximumPageSize : dialect.dialect.maximumPageSize)
        return (dialect, meaning)
    }

    /// Returns the response, or the write that leads to one.
    ///
    /// - Parameter callsStore: Whether the store may be called. If not, only a write is returned.
    /// - Throws: ``StoreNeeded`` if the store has to be called.
    func step(
        to request: HTTPRequest, body: [UInt8], caller: Caller, callsStore: Bool = true
    ) throws -> WriteStep {
        guard body.count <= options.maximumBodySize else {
            throw RequestRejection(
                .contentTooLarge, "the body is larger than the \(options.maximumBodySize) bytes allowed")
        }
        let (dialect, meaning) = try meaning(of: request)
        let access = try access(of: caller, for: meaning)
        if !body.isEmpty { try requireJSON(request) }
        if callsStore, case .read(let wanted) = meaning, try isYetToBeCreated(meaning.table) {
            return .respond(TableResponse(emptyPage: wanted, dialect))
        }
        if dialect == .datasync3 {
            return try stepAsDatasync(to: meaning, request, body: body, access, callsStore: callsStore)
        }
        if case .insert(let name) = meaning { return try insert(body, into: name, access, callsStore: callsStore) }
        let table = try table(meaning.table)
        switch try options.behavior.request?(meaning) ?? meaning {
        case .read where !callsStore, .lookup where !callsStore: throw StoreNeeded()
        case .read(let wanted):
            return .respond(try read(wanted, from: table, for: request, access))
        case .lookup(_, let id, let includeDeleted):
            return .respond(
                try readRow(access) { try lookup(id, in: table, includeDeleted: includeDeleted, access, $0) })
        case .update(_, let id, let ifMatch):
            return try update(id, in: table, ifMatch: ifMatch, body: body, access, callsStore: callsStore)
        case .delete(_, let id, let ifMatch):
            return delete(id, from: table, ifMatch: ifMatch, access)
        case .undelete(_, let id, let ifMatch):
            return try undelete(id, in: table, ifMatch: ifMatch, body: body, access)
        case .insert:
            return try insert(body, into: table.schema.name, access, callsStore: callsStore)
        case .replace(_, let id, let ifMatch, let includeDeleted):
            return try replace(
                id, in: table, ifMatch: ifMatch, includeDeleted: includeDeleted, body: body, access,
                callsStore: callsStore)
        }
    }

    private func access(of caller: Caller, for request: TableRequest) throws(RequestRejection) -> TableAccess {
        try TableAccess(request.right, to: request.table, rights: options.rights(of: request.table), caller: caller)
    }

    func table(_ name: String) throws -> ServedTable {
        guard let table = catalog.table(name) else {
            // Other names could be those of tables that the caller has no right to.
            let near = catalog.schemas.first { $0.name.asciiLowercased == name.asciiLowercased }
            let hint = near.map { "; did you mean \($0.name.debugDescription)?" } ?? ""
            throw RequestRejection(.notFound, "there is no table \(name.debugDescription)\(hint)")
        }
        return table
    }

    /// Returns whether a table does not exist, and its first insert would create it. Its pages are empty, as clients
    /// pull a table before they insert a row.
    private func isYetToBeCreated(_ name: String) throws -> Bool {
        guard options.createsTablesOnFirstInsert, catalog.table(name) == nil else { return false }
        // Another service may have created it.
        try catalog.refresh(name)
        guard catalog.table(name) == nil else { return false }
        return (try? catalog.preview(name, with: [])) != nil
    }

    /// Rejects a body that the sender does not declare as JSON, such as that of a form of a web page. A sender need not
    /// declare it.
    private func requireJSON(_ request: HTTPRequest) throws(RequestRejection) {
        guard let type = request.headerFields[.contentType], type != "application/json" else { return }
        let media = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        guard media != "application/json", media != "text/json", !media.hasSuffix("+json") else { return }
        throw RequestRejection(
            .unsupportedMediaType,
            "the body is \(String(type.prefix(100)).debugDescription); send JSON with the header Content-Type: application/json"
        )
    }
}

/// The store has to be called to continue with a request.
struct StoreNeeded: Error {}
