import Foundation
import HTTPTypes
import Tideline

/// The dialect of ``NotesService``: rows with entity tags, and a feed of changes by sequence number.
struct NotesDialect: CustomDialect {
    let name = "notes"
    var maxBatchCount = 1

    /// Returns the row of an object with its identifier, its fields, and the number of its last change, the version.
    private func row(_ fields: JSONFields, in schema: TableSchema) throws -> Row {
        guard let id = fields.row.id, let change = fields.row["change"]?.int else {
            throw NotesError("a row without id or change")
        }
        var row = fields.row(in: schema)
        row.id = id
        row["version"] = .string(String(change))
        return row
    }
}

struct NotesError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension NotesDialect {
    func request(for page: PageRequest, after cursor: Int?) throws -> ServerRequest {
        guard page.predicate == nil else { throw NotesError("the server cannot filter its changes") }
        return try ServerRequest(
            .get, path: [page.table, "changes"],
            query: [("after", String(cursor ?? 0)), ("limit", String(page.pageSize))])
    }
}

// article: list
extension NotesDialect {
    func page(in response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> ServerPage<Int> {
        try ServerPage(json: response.body, list: "rows", of: page, renaming: ["version": "change"]) { rest, _ in
            guard let last = rest["last"]?.int, let total = rest["total"]?.int, let hasMore = rest["more"]?.bool else {
                throw NotesError("this is not a list of changes")
            }
            return (cursor: Int(last), isLast: !hasMore, remaining: Int(total))
        }
    }
}
// end

extension NotesDialect {
    func request(for row: RowRequest) throws -> ServerRequest {
        let path = [row.table, "rows", row.id]
        var headers: HTTPFields = [:]
        if row.action == .insert { headers[.ifNoneMatch] = "*" }
        // Without a version, the change applies to any row.
        if let version = row.version { headers[.ifMatch] = "\"\(version)\"" }
        let body = try Array(JSONEncoder().encode(JSONFields(row.row)))
        switch row.action {
        case .lookUp: return try ServerRequest(.get, path: path)
        case .insert: return try ServerRequest(.put, path: path, headers: headers, body: body)
        case .update: return try ServerRequest(.patch, path: path, headers: headers, body: body)
        case .delete: return try ServerRequest(.delete, path: path, headers: headers)
        case .undelete: throw NotesError("the server cannot restore a row; insert it")
        }
    }

    /// The body of a failure, with the row of a conflict. Nothing but this server has these texts in it.
    private struct Problem: Decodable {
        enum Code: String, Decodable {
            case noRow, noTable, noPath, changed, unknownNumber, forbidden, busy, sessionEnded
        }
        var error: Code
        var row: JSONFields?
    }

    private func problem(of response: TransportResponse) -> Problem? {
        guard response.response.status.kind != .successful else { return nil }
        return try? JSONDecoder().decode(Problem.self, from: Data(response.body))
    }

    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning {
        var meaning = general(response)
        let fields: JSONFields? =
            switch meaning.kind {
            case .done where row.action == .delete && response.response.status == .noContent: nil
            case .done: try JSONDecoder().decode(JSONFields.self, from: Data(response.body))
            default: problem(of: response)?.row
            }
        meaning.row = try fields.map { try self.row($0, in: row.schema) }
        return meaning
    }

    func meaning(of response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> AnswerMeaning {
        general(response)
    }

    /// Returns the meaning of the errors that this server uses in a way of its own. The others are those of HTTP.
    private func general(_ response: TransportResponse) -> AnswerMeaning {
        var meaning = AnswerMeaning(byStatusOf: response)
        let error = problem(of: response)?.error
        if let error { meaning.message = error.rawValue }
        switch error {
        case .noRow, .unknownNumber, .changed: break
        case .noTable, .noPath, .forbidden: meaning.kind = .refused
        case .busy: (meaning.kind, meaning.retryAfter) = (.unavailable, .seconds(10))
        case .sessionEnded: meaning.kind = .signInNeeded
        case nil: if meaning.kind == .gone { meaning.kind = .refused }  // Something else has answered.
        }
        return meaning
    }

    func isFromService(_ response: TransportResponse) -> Bool? { problem(of: response) == nil ? nil : true }

    /// A request in the body of `POST batch`, and a response in its response.
    struct Part: Codable {
        var method, path: String
        var headers: [String: String]
        var body: String?
    }

    struct Answer: Codable { var status: Int, body: String }

    func request(forBatch requests: [ServerRequest]) throws -> ServerRequest {
        let parts = requests.map { request in
            let headers = request.headers.map { ($0.name.canonicalName, $0.value) }
            return Part(
                method: request.method.rawValue, path: request.target, headers: Dictionary(headers) { $1 },
                body: request.body.map { String(decoding: $0, as: UTF8.self) })
        }
        return try ServerRequest(.post, path: ["batch"], body: Array(JSONEncoder().encode(parts)))
    }

    func responses(in response: TransportResponse, toBatch requests: [ServerRequest]) throws -> [TransportResponse] {
        try JSONDecoder().decode([Answer].self, from: Data(response.body)).map {
            guard 200..<600 ~= $0.status else { throw NotesError("this is no status") }
            return TransportResponse(response: HTTPResponse(status: .init(code: $0.status)), body: Array($0.body.utf8))
        }
    }

    func changeSignals(over connection: DialectConnection) -> ChangeSignals? {
        ChangeSignals(
            AsyncThrowingStream {
                let request = try ServerRequest(
                    .get, path: ["poll"], query: [("tables", connection.tables.joined(separator: ","))])
                let answer = try await connection.send(request, timeout: .seconds(90))
                return String(decoding: answer.body, as: UTF8.self)  // the name of a table that has changed
            })
    }
}
