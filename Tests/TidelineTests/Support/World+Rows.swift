import Foundation
import HTTPTypes
import Tideline
import TidelineStore
import TidelineTestStores

extension World {
    /// Returns a timestamp near those of the world's clock.
    static func instant(_ ticks: Int64) -> Timestamp { Timestamp(clampingTicks: 17_900_000_000_000_000 + ticks) }

    /// Makes a row of the server whose version contains the identifier and the timestamp.
    static func row(_ id: String, at ticks: Int64, text: String? = nil, deleted: Bool = false) -> Row {
        [
            "id": .string(id), "text": .string(text ?? id), "updatedAt": .timestamp(instant(ticks)),
            "version": .string("\(id)@\(ticks)"), "deleted": .bool(deleted),
        ]
    }

    /// Makes rows with the identifiers `r000`, `r001`, … and the given timestamps.
    static func rows(at ticks: some Sequence<Int64>) -> [Row] {
        zip(0..., ticks).map { row("r" + String(repeating: "0", count: 3 - min(3, "\($0)".count)) + "\($0)", at: $1) }
    }

    /// Returns the versions of the server's rows that are not deleted, by identifier.
    func serverVersions() throws -> [String: String] {
        let query = TableQuery("TodoItem").filter(.column("deleted") != true)
        let rows = try serverStore.read { try $0.rows(matching: query).rows }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0["version"]?.string ?? "") })
    }
}

extension LocalStore {
    /// Returns the versions of the rows, by identifier.
    func versions() throws -> [String: String] {
        let rows = try read { try $0.rows(matching: TableQuery("TodoItem")).rows }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.idText, $0["version"]?.string ?? "") })
    }

    /// Returns the `updatedAt` of each stored token, by query ID.
    func tokens() throws -> [String: String] {
        let query = TableQuery("MS_TableConfig").filter(.column("keyType") == 1)
        let rows = try read { try $0.rows(matching: query).rows }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["key"]?.string ?? "", $0["value"]?.string ?? "") })
    }
}

extension HTTPRequest {
    /// The path and query with the percent escapes decoded.
    var target: String { path?.removingPercentEncoding ?? "" }

    /// The number of rows that the request asks for at most, or 0 if it does not say.
    var top: Int { target.firstMatch(of: /\$top=(\d+)/).flatMap { Int($0.output.1) } ?? 0 }

    /// Returns the same request for at most `limit` rows.
    func limited(to limit: Int) -> HTTPRequest {
        var request = self
        request.path = path?.replacing(/\$top=(\d+)/) { "$top=\(min(Int($0.output.1) ?? limit, limit))" }
        return request
    }

    /// Returns the same request without the given option.
    func without(_ option: String) -> HTTPRequest {
        var request = self
        guard let parts = path?.split(separator: "?", maxSplits: 1), parts.count == 2 else { return self }
        let kept = parts[1].split(separator: "&").filter { !$0.hasPrefix("\(option)=") }
        request.path = "\(parts[0])?\(kept.joined(separator: "&"))"
        return request
    }
}

extension TransportResponse {
    /// Returns the answer without the given header.
    func without(_ name: HTTPField.Name) -> TransportResponse {
        var answer = self
        answer.response.headerFields[name] = nil
        return answer
    }

    /// Returns the answer with the given header.
    func with(_ name: HTTPField.Name, _ value: String) -> TransportResponse {
        var answer = self
        answer.response.headerFields[name] = value
        return answer
    }

    /// Returns the answer with another body.
    func editing(_ edit: (String) -> String) -> TransportResponse {
        TransportResponse(response: response, body: Array(edit(String(decoding: body, as: UTF8.self)).utf8))
    }

    /// Returns the answer with a text in its body replaced.
    func replacing(_ old: String, with new: String) -> TransportResponse { editing { $0.replacing(old, with: new) } }
}
