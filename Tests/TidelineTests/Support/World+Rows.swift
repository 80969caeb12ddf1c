import Foundation
import HTTPTypes
import Tideline
import TidelineStore

extension World {
    /// An instant near those of the world's clock.
    static func instant(_ ticks: Int64) -> Timestamp { Timestamp(clampingTicks: 17_900_000_000_000_000 + ticks) }

    /// A row as a server holds it; its version says the id and the instant.
    static func row(_ id: String, at ticks: Int64, text: String? = nil, deleted: Bool = false) -> Row {
        [
            "id": .string(id), "text": .string(text ?? id), "updatedAt": .timestamp(instant(ticks)),
            "version": .string("\(id)@\(ticks)"), "deleted": .bool(deleted),
        ]
    }

    /// Rows of the ids `r000`, `r001`, … at the instants given.
    static func rows(at ticks: some Sequence<Int64>) -> [Row] {
        zip(0..., ticks).map { row("r" + String(repeating: "0", count: 3 - min(3, "\($0)".count)) + "\($0)", at: $1) }
    }

    /// Ids and versions of the server's rows that are not deleted.
    func serverVersions() throws -> [String: String] {
        let query = Query("TodoItem").filter(.column("deleted") != true)
        let rows = try serverStore.read { try $0.rows(matching: query).rows }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0["version"]?.string ?? "") })
    }
}

extension LocalStore {
    /// Ids and versions of the rows.
    func versions() throws -> [String: String] {
        let rows = try read { try $0.rows(matching: Query("TodoItem")).rows }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0["version"]?.string ?? "") })
    }

    /// The `updatedAt` of each stored token, by query id.
    func tokens() throws -> [String: String] {
        let query = Query("MS_TableConfig").filter(.column("keyType") == 1)
        let rows = try read { try $0.rows(matching: query).rows }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["key"]?.string ?? "", $0["value"]?.string ?? "") })
    }
}

extension HTTPRequest {
    /// Path and query with the percent escapes taken out.
    var target: String { path?.removingPercentEncoding ?? "" }

    /// The same request for at most `limit` rows.
    func limited(to limit: Int) -> HTTPRequest {
        var request = self
        request.path = path?.replacing(/\$top=(\d+)/) { "$top=\(min(Int($0.output.1) ?? limit, limit))" }
        return request
    }

    /// The same request without one of its options.
    func without(_ option: String) -> HTTPRequest {
        var request = self
        guard let parts = path?.split(separator: "?", maxSplits: 1), parts.count == 2 else { return self }
        let kept = parts[1].split(separator: "&").filter { !$0.hasPrefix("\(option)=") }
        request.path = "\(parts[0])?\(kept.joined(separator: "&"))"
        return request
    }
}

extension TransportResponse {
    /// The answer without one of its headers.
    func without(_ name: HTTPField.Name) -> TransportResponse {
        var answer = self
        answer.response.headerFields[name] = nil
        return answer
    }

    /// The answer with its body, as text, changed.
    func replacing(_ old: String, with new: String) -> TransportResponse {
        var answer = self
        answer.body = Array(String(decoding: body, as: UTF8.self).replacing(old, with: new).utf8)
        return answer
    }
}
