public import HTTPTypes
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
/// any row. The original behavior can be enabled; see ``ServerQuirks``. Only one service at a time may write to a
/// store's tables.
public final class TableService<Store: LocalStore>: Sendable {
    let store: Store
    let options: TableServiceOptions
    let catalog: TableCatalog<Store>
    let stamps: StampSource

    /// Creates a service over a store, which the caller must close.
    ///
    /// Existing tables of the store are served if they have all system columns.
    ///
    /// - Throws: The errors of ``LocalStore/define(_:)`` for the tables in the options, which are merged with existing
    ///   ones; ``StoreError/Code/schemaMismatch`` for the store of a client, which contains its queue.
    public init(store: Store, options: TableServiceOptions = TableServiceOptions()) throws {
        self.store = store
        self.options = options
        catalog = try TableCatalog(store: store, schemas: options.schemas)
        stamps = StampSource(clock: options.clock, isCoarse: options.quirks.contains(.millisecondStamps))
    }

    /// Handles one request. Any number of threads can call this method at once; it returns when the store has finished.
    ///
    /// - Parameters:
    ///   - request: The method, path with query, and headers. The scheme and authority, if present, are used in the
    ///     link to the next page.
    ///   - body: The body, decompressed; may be empty.
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
                .contentTooLarge, "the body is larger than the \(options.maximumBodySize) bytes allowed")
        }
        let (method, target, headers) = (request.method, request.path ?? "", request.headerFields)
        let dialect = DialectName(of: method, target: target, headers: headers, assumed: options.dialect.name)
        let meaning = try TableRequest(
            method: method, target: target, headers: headers, dialect: dialect,
            maximumPageSize: dialect == .zumo2 ? options.maximumPageSize : dialect.dialect.maximumPageSize)
        if dialect == .datasync3 { return try respondAsDatasync(to: meaning, request, body: body) }
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
                throw RequestRejection(.badRequest, "a POST to a row undeletes it and must have no body")
            }
            return try undelete(id, in: table, ifMatch: ifMatch)
        case .insert:
            return try insert(body, into: table.schema.name)
        case .replace(_, let id, let ifMatch, let includeDeleted):
            return try replace(id, in: table, ifMatch: ifMatch, includeDeleted: includeDeleted, body: body)
        }
    }

    func table(_ name: String) throws -> ServedTable {
        guard let table = catalog.table(name) else {
            throw RequestRejection(.notFound, "there is no table \(name.debugDescription)")
        }
        return table
    }
}
