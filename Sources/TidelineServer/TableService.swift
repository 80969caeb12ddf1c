public import HTTPTypes
public import TidelineStore
internal import TidelineWire

/// The remote side of the table protocol, in the dialect ZUMO 2, over any local store; no sockets.
///
/// A request goes in, an answer comes out; whoever has the connection passes them on. Rows are stored with the system
/// columns `createdAt`, `updatedAt`, `version` and `deleted`, which the service makes: `updatedAt` increases with every
/// commit in a table, also over a restart and when the clock goes back; deletion is soft.
///
/// ```swift
/// let service = try TableService(store: store)
/// let answer = service.handle(request, body: bytes)
/// ```
///
/// Where the original back ends are odd, the service does what their clients had hoped for: an insert of an id that
/// exists is answered with the server's row, an unknown column in `$filter` is 400, `If-Match: *` matches any row. What
/// the original does instead can be switched on, see ``ServerQuirks``.
/// One service at a time may write to a store's tables.
public final class TableService<Store: LocalStore>: Sendable {
    let store: Store
    let options: TableServiceOptions
    let catalog: TableCatalog<Store>
    let stamps: StampSource

    /// A service over a store, which stays the caller's to close.
    ///
    /// Tables that the store has already are served if they keep all system columns.
    /// - Throws: What ``LocalStore/define(_:)`` throws for the tables of the options, which only add to those there are;
    ///   ``StoreError/Code/schemaMismatch`` for a client's store, with its queue.
    public init(store: Store, options: TableServiceOptions = TableServiceOptions()) throws {
        self.store = store
        self.options = options
        catalog = try TableCatalog(store: store, schemas: options.schemas)
        stamps = StampSource(clock: options.clock, isCoarse: options.quirks.contains(.millisecondStamps))
    }

    /// Answers one request. Any number of threads may call at once; the call returns when the store is done.
    ///
    /// - Parameters:
    ///   - request: Method, path with query, and headers; scheme and authority, if there are any, begin the link to the
    ///     next page.
    ///   - body: The body, decompressed; empty when there is none.
    public func handle(_ request: HTTPRequest, body: [UInt8]) -> TableResponse {
        var answer: TableResponse
        do {
            answer = try respond(to: request, body: body)
        } catch let rejection as RequestRejection {
            answer = TableResponse(rejection)
        } catch let error as WireError {
            answer = TableResponse(.badRequest, error: error.description)
        } catch let error as StoreError {
            answer = TableResponse(error)
        } catch {
            answer = TableResponse(.internalServerError, error: "\(error)")
        }
        answer.response.headerFields[.date] = HTTPDate.text(of: options.clock())
        return answer
    }

    private func respond(to request: HTTPRequest, body: [UInt8]) throws -> TableResponse {
        guard body.count <= options.maximumBodySize else {
            throw RequestRejection(
                .contentTooLarge, "a body must not be larger than \(options.maximumBodySize) bytes")
        }
        let meaning = try TableRequest(
            method: request.method, target: request.path ?? "", headers: request.headerFields,
            maximumPageSize: options.maximumPageSize)
        if case .insert(let name) = meaning { return try insert(body, into: name) }
        let table = try table(meaning.table)
        switch meaning {
        case .read(let wanted):
            return try read(wanted, from: table, for: request)
        case .lookup(_, let id, let includeDeleted):
            return try lookup(id, in: table, includeDeleted: includeDeleted)
        case .update(_, let id, let ifMatch):
            return try update(id, in: table, ifMatch: ifMatch, body: body)
        case .delete(_, let id, let ifMatch):
            return try delete(id, from: table, ifMatch: ifMatch)
        case .undelete(_, let id, let ifMatch):
            guard body.isEmpty else {
                throw RequestRejection(.badRequest, "POST to a row undeletes it and takes no body")
            }
            return try undelete(id, in: table, ifMatch: ifMatch)
        case .insert:
            return try insert(body, into: table.schema.name)
        }
    }

    func table(_ name: String) throws -> ServedTable {
        guard let table = catalog.table(name) else {
            throw RequestRejection(.notFound, "there is no table \(name.debugDescription)")
        }
        return table
    }
}
