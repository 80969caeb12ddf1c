import Foundation
import HTTPTypes
import Tideline

/// The dialect of a document server: `/{table}/{key}`, integer revisions, and a list of changes by sequence number.
struct NotesDialect: CustomDialect {
    let name = "notes"

    struct Document: Codable {
        var key: String
        var revision: Int
        var fields: JSONFields?  // none if the document was deleted

        var row: Row {
            var row = fields?.row ?? ["deleted": true]
            row.id = .string(key)
            row["version"] = .string(String(revision))
            return row
        }
    }
}

extension NotesDialect {
    struct Changes: Codable {
        var documents: [Document]
        var last: Int
        var remaining: Int
    }

    func request(for page: PageRequest, after cursor: Int?) throws -> ServerRequest {
        guard page.predicate == nil else { throw NotesError("the server cannot filter its changes") }
        return try ServerRequest(
            .get, path: [page.table, "_changes"],
            query: [("since", String(cursor ?? 0)), ("limit", String(page.pageSize))])
    }

    func page(in response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> ServerPage<Int> {
        let changes = try JSONDecoder().decode(Changes.self, from: Data(response.body))
        return ServerPage(
            rows: changes.documents.map(\.row), cursor: changes.last, isLast: changes.remaining == 0,
            remaining: changes.documents.count + changes.remaining)
    }
}

struct NotesError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension NotesDialect {
    struct Change: Codable {
        var revision: Int  // 0 for a document that does not exist
        var fields: JSONFields
    }

    func request(for row: RowRequest) throws -> ServerRequest {
        let path = [row.table, row.id]
        switch row.action {
        case .lookUp:
            return try ServerRequest(.get, path: path)
        case .insert, .update:
            // Without a version, the change applies to any revision.
            let revision = row.action == .insert ? 0 : row.version.flatMap { Int($0) } ?? -1
            let change = Change(revision: revision, fields: JSONFields(row.row))
            return try ServerRequest(.put, path: path, body: Array(JSONEncoder().encode(change)))
        case .delete:
            return try ServerRequest(.delete, path: path, query: [("revision", row.version ?? "-1")])
        case .undelete:
            throw NotesError("the server cannot restore a document; insert it")
        }
    }
}

extension NotesDialect {
    struct Answer: Codable {
        var document: Document?
        var problem: String?
    }

    func meaning(of response: TransportResponse, to row: RowRequest) throws -> AnswerMeaning {
        let meaning = general(response)
        guard meaning.kind == .done else { return meaning }
        let answer = try JSONDecoder().decode(Answer.self, from: Data(response.body))
        switch answer.problem {
        case nil: return .done(answer.document?.row)
        case "missing": return .gone
        case "stale": return .conflict(answer.document?.row)
        case let problem?: return .refused(problem)
        }
    }

    func meaning(of response: TransportResponse, to page: PageRequest, after cursor: Int?) throws -> AnswerMeaning {
        var meaning = general(response)
        if meaning.kind == .gone, response.response.status != .gone { meaning.kind = .refused }
        return meaning
    }

    /// The statuses that this server uses in a way of its own. The others are those of HTTP.
    private func general(_ response: TransportResponse) -> AnswerMeaning {
        switch response.response.status.code {
        case 420: AnswerMeaning(.unavailable, message: "the server is busy", retryAfter: .seconds(10))
        case 498: AnswerMeaning(.signInNeeded, message: "the session has ended")
        default: AnswerMeaning(byStatusOf: response)
        }
    }
}

extension NotesDialect {
    func changeSignals(over connection: DialectConnection) -> ChangeSignals? {
        ChangeSignals(
            AsyncThrowingStream {
                let request = try ServerRequest(
                    .get, path: ["_poll"], query: [("tables", connection.tables.joined(separator: ","))])
                let answer = try await connection.send(request, timeout: .seconds(90))
                return String(decoding: answer.body, as: UTF8.self)  // the name of a table that has changed
            })
    }
}

func makeClient<Store: LocalStore>(store: Store, transport: any Transport) async throws -> SyncClient<Store> {
    var options = SyncOptions()
    options.dialect = ServerDialect(NotesDialect())
    let client = try SyncClient(
        url: "https://notes.example.org/db", store: store, transport: transport, options: options)
    try await client.define([TableSchema("Note", columns: [.string("text"), .int("likes"), .timestamp("due")])])
    return client
}
