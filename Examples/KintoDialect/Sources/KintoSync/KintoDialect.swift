internal import Foundation
public import HTTPTypes
public import Tideline
internal import TidelineStore

// The code of the article "Speaking to another server", which explains each part.

// article: rows
/// The dialect of Kinto (kinto.readthedocs.io), a server of JSON records, with a collection for each table. The address
/// of the client ends with the version of the API: `https://example.org/v1`.
///
/// Tables must have `idMatching: .exact`, because the ids of records differ in case. A column named `last_modified`
/// must have another name on the server. A record whose only field is `deleted` with the value true looks like a
/// tombstone.
public struct KintoDialect: CustomDialect {
    /// The bucket of the collections. Cursors of another bucket are not used.
    public let bucket: String
    /// The names of fields in records that differ from those of their columns, by the names of the columns: a column
    /// cannot be named `version`, but a field can.
    public let fields: [String: String]
    /// The time between two requests of the change signals for a table.
    public var pollInterval = Duration.seconds(10)
    /// The maximum number of changes in a batch, at most the server's `batch_max_requests`.
    public var maxBatchCount = 25

    public var name: String { "kinto/\(bucket)" }

    /// Creates the dialect of a bucket.
    public init(bucket: String, fields: [String: String] = [:]) { (self.bucket, self.fields) = (bucket, fields) }

    /// Returns the path of the records of a table.
    private func records(of table: String) -> [String] { ["buckets", bucket, "collections", table, "records"] }

    /// Returns the row of a record, or of a tombstone, which has no members but `id`, `last_modified`, and `deleted`.
    private func row(_ record: JSONFields?, in schema: TableSchema) throws -> Row {
        guard let record, let id = record.row.id, let stamp = record.row["last_modified"]?.int else {
            throw KintoError("a record without id or last_modified")
        }
        let isTombstone = record.row["deleted"] == true && record.row.columnNames.count == 2
        var row = isTombstone ? ["deleted": true] : record.row(in: schema, renaming: fields)
        row.id = id
        row["version"] = .string(String(stamp))
        row["updatedAt"] = Timestamp(milliseconds: stamp).map { .timestamp($0) }
        return row
    }
}

/// An error of the dialect.
public struct KintoError: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

// article: pull
extension KintoDialect {
    /// Requests the records and tombstones that changed after the cursor, the stamp of the last one before, in
    /// milliseconds.
    public func request(for page: PageRequest, after cursor: Int64?) throws -> ServerRequest {
        guard page.predicate == nil else { throw KintoError("rows that leave a filter are not listed; pull all rows") }
        guard page.schema.idMatching == .exact else { throw KintoError("declare the table with idMatching: .exact") }
        return try ServerRequest(
            .get, path: records(of: page.table),
            query: [
                ("_since", String(cursor ?? 0)), ("_sort", "last_modified"), ("_limit", String(page.pageSize)),
            ])
    }

    public func page(
        in response: TransportResponse, to page: PageRequest, after cursor: Int64?
    ) throws -> ServerPage<Int64> {
        let members = try JSONDecoder().decode([String: [JSONFields]].self, from: Data(response.body))
        guard let newest = stamp(of: response), let rows = try members["data"]?.map({ try row($0, in: page.schema) })
        else { throw KintoError("a list without an ETag or data") }
        // Where PostgreSQL stores the records, a change gets its stamp before its commit, so that it may appear after
        // one with a greater stamp.
        let visible = response.serverTime?.advanced(by: .zero - page.lookback).milliseconds
        return ServerPage(
            rows: rows, cursor: rows.last?["version"]?.string.flatMap { Int64($0) } ?? cursor ?? 0,
            isLast: response.response.headerFields[.nextPage] == nil, nextPull: min(newest, visible ?? newest))
    }

    /// Returns the stamp of the collection's newest change, which is the entity tag of a list.
    private func stamp(of response: TransportResponse) -> Int64? {
        response.response.headerFields[.eTag].flatMap { Int64($0.filter { $0 != "\"" }) }
    }

    /// A list whose newest change is older than the cursor comes from a server that was emptied or restored.
    public func meaning(
        of response: TransportResponse, to page: PageRequest, after cursor: Int64?
    ) throws -> AnswerMeaning {
        let meaning = meaning(of: response)
        guard meaning.kind == .done, let cursor, let last = stamp(of: response), last < cursor else { return meaning }
        return .gone
    }
}

extension HTTPField.Name {
    // The names are valid, so they are not nil.
    fileprivate static let (nextPage, backoff) = (Self("Next-Page")!, Self("Backoff")!)
}

// article: push
extension KintoDialect {
    public func request(for row: RowRequest) throws -> ServerRequest {
        let path = records(of: row.table) + [row.id]
        var headers: HTTPFields = [:]
        // An insert must find no record. Other changes must find the version on which they are based.
        if row.action == .insert { headers[.ifNoneMatch] = "*" }
        if let version = row.version { headers[.ifMatch] = "\"\(version)\"" }
        switch row.action {
        case .lookUp: return try ServerRequest(.get, path: path)
        case .insert: return try ServerRequest(.put, path: path, headers: headers, body: body(row))
        case .update: return try ServerRequest(.patch, path: path, headers: headers, body: body(row))
        case .delete: return try ServerRequest(.delete, path: path, headers: headers)
        case .undelete: throw KintoError("a deleted record cannot be restored; insert it")
        }
    }

    private func body(_ request: RowRequest) throws -> [UInt8] {
        let data = JSONFields(request.row, renaming: fields)
        // The server would take it for the stamp.
        guard data.row["last_modified"] == nil else { throw KintoError("rename the field last_modified") }
        return Array(try JSONEncoder().encode(["data": data]))
    }

    public func validateNewID(_ id: String) throws {
        guard id.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9_-]*/) != nil else {
            throw KintoError("an id has letters, digits, _, and -, and begins with a letter or digit")
        }
    }
}

// article: batches
extension KintoDialect {
    /// A request in a batch, or the response to one.
    private struct Part: Codable {
        var method: String?
        var status: Int?
        var path: String
        var headers: [String: String]
        var body: JSONFields?
    }

    public func request(forBatch requests: [ServerRequest]) throws -> ServerRequest {
        let parts = try requests.map { request in
            let headers = request.headers.map { ($0.name.canonicalName, $0.value) }
            return Part(
                method: request.method.rawValue, path: "/" + request.target, headers: Dictionary(headers) { $1 },
                body: try request.body.map { try JSONDecoder().decode(JSONFields.self, from: Data($0)) })
        }
        return try ServerRequest(.post, path: ["batch"], body: Array(JSONEncoder().encode(["requests": parts])))
    }

    public func responses(
        in response: TransportResponse, toBatch requests: [ServerRequest]
    ) throws -> [TransportResponse] {
        let parts = try JSONDecoder().decode([String: [Part]].self, from: Data(response.body))["responses"] ?? []
        // With 409, the server undoes the changes before it in the batch, whose responses still say that they were
        // made.
        let undoing = parts.first { $0.status == 409 }
        return try parts.map { part in
            guard let status = (undoing ?? part).status, 200..<600 ~= status else { throw KintoError("no status") }
            var answer = response
            answer.response.status = .init(code: status)
            answer.body = Array(try JSONEncoder().encode((undoing ?? part).body))
            return answer
        }
    }
}

// article: meaning
extension KintoDialect {
    public func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning {
        var meaning = meaning(of: response)
        switch meaning.kind {
        case .done:
            let members = try JSONDecoder().decode([String: JSONFields].self, from: Data(response.body))
            meaning.row = try self.row(members["data"], in: row.schema)
        case .conflict:
            // The details are absent if the record was deleted.
            guard case .json(let details)? = problem(of: response)?["details"] else { break }
            let existing = try? JSONDecoder().decode([String: JSONFields].self, from: Data(details.utf8))["existing"]
            meaning.row = try existing.map { try self.row($0, in: row.schema) }
        default: break
        }
        return meaning
    }

    /// Returns the meaning of the errors that Kinto uses in a way of its own. The others are those of HTTP.
    private func meaning(of response: TransportResponse) -> AnswerMeaning {
        var meaning = AnswerMeaning(byStatusOf: response)
        let problem = problem(of: response)
        if let message = problem?["message"]?.string { meaning.message = message }
        switch (response.response.status.code, problem?["errno"]?.int) {
        case (404, 110): break  // The record is gone.
        case (404, _), (410, _): meaning.kind = .refused  // The collection is missing, or something else answered.
        case (409, 122): (meaning.kind, meaning.retryAfter) = (.serverFailed, .zero)  // Two changes in one millisecond.
        case (503, 201): meaning.kind = .serverFailed  // Perhaps of this record only: PostgreSQL cannot store U+0000.
        default: break
        }
        if let seconds = response.response.headerFields[.backoff].flatMap({ Int($0) }) {
            meaning.retryAfter = max(meaning.retryAfter ?? .zero, .seconds(seconds))
        }
        return meaning
    }

    /// Returns the members of the body of a failure. No gateway has a number of the error in it.
    private func problem(of response: TransportResponse) -> Row? {
        guard response.response.status.kind != .successful else { return nil }
        let members = try? JSONDecoder().decode(JSONFields.self, from: Data(response.body)).row
        return members?["errno"]?.int == nil ? nil : members
    }

    public func isFromService(_ response: TransportResponse) -> Bool? { problem(of: response) == nil ? nil : true }
}

// article: authentication
extension KintoDialect {
    /// Kinto's own accounts use Basic authentication. The token of the user is `name:password`.
    public func authentication(token: String) -> HTTPField {
        HTTPField(name: .authorization, value: "Basic \(Data(token.utf8).base64EncodedString())")
    }
}

// article: signals
extension KintoDialect {
    /// Asks for the stamp of each collection in turn. The first round names each table, as the baseline.
    public func changeSignals(over connection: DialectConnection) -> ChangeSignals? {
        ChangeSignals(
            AsyncThrowingStream<String, any Error> { names in
                let task = Task {
                    var stamps: [String: Int64] = [:]
                    do {
                        while true {
                            for table in connection.tables {
                                let request = try ServerRequest(
                                    .get, path: records(of: table), query: [("_limit", "1"), ("_fields", "id")])
                                let stamp = stamp(of: try await connection.send(request)) ?? 0
                                if stamps.updateValue(stamp, forKey: table) != stamp { names.yield(table) }
                            }
                            try await Task.sleep(for: pollInterval)
                        }
                    } catch {
                        names.finish(throwing: error)
                    }
                }
                names.onTermination = { _ in task.cancel() }
            })
    }
}
