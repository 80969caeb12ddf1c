import Foundation
import HTTPTypes
import Tideline

/// A REST service of rows in tables. A row is an object with `id`, its fields, and `change`, the number of its last
/// change and its entity tag. `TABLE/rows/ID` takes GET, PUT, PATCH (of single fields), and DELETE, with `If-Match` and
/// `If-None-Match`. `TABLE/changes?after=N&limit=M` lists rows by that number, the deleted ones as
/// `{"id", "change", "deleted": true}`.
struct NotesService {
    struct Item: Encodable {
        var id: String, change: Int, fields: Row?  // no fields in a tombstone
        var tag: String { "\"\(change)\"" }
        func encode(to encoder: any Encoder) throws {
            try JSONFields(fields ?? ["deleted": true]).encode(to: encoder)
            try ["change": change].encode(to: encoder)
            try ["id": id].encode(to: encoder)
        }
    }
    private struct Conflict: Encodable { var error = "changed", row: Item? }
    private struct Feed: Encodable { var rows: [Item], last: Int, total: Int, more: Bool }

    var tables: [String: [String: Item]] = ["Note": [:]]
    private(set) var last = 0
    /// The number up to which the service has forgotten changes.
    var horizon = 0

    @discardableResult mutating func store(_ fields: Row?, _ id: String, in table: String) -> Item {
        last += 1
        tables[table, default: [:]][id] = Item(id: id, change: last, fields: fields)
        return Item(id: id, change: last, fields: fields)
    }

    mutating func respond(to request: HTTPRequest, _ path: [String], _ body: [UInt8]) throws -> TransportResponse {
        guard let table = path.first, let rows = tables[table] else { return .problem(404, "noTable") }
        if path.dropFirst() == ["changes"] { return try list(rows, request.path ?? "") }
        guard path.count == 3, path[1] == "rows" else { return .problem(404, "noPath") }
        let (method, headers, id) = (request.method, request.headerFields, path[2])
        let item = rows[id].flatMap { $0.fields == nil ? nil : $0 }
        guard item != nil || method == .put else { return .problem(404, "noRow") }
        guard (headers[.ifMatch] ?? item?.tag) == item?.tag, headers[.ifNoneMatch] != "*" || item == nil else {
            return try .json(412, Conflict(row: item))
        }
        if method == .get { return headers[.ifNoneMatch] == item?.tag ? .answer(304) : try .json(200, item, item?.tag) }
        if method == .delete { store(nil, id, in: table) }
        guard method == .put || method == .patch else { return .answer(method == .delete ? 204 : 405) }
        let change = try JSONDecoder().decode(JSONFields.self, from: Data(body)).row
        let stored = store(method == .patch ? item?.fields?.merging(change) : change, id, in: table)
        return try .json(item == nil ? 201 : 200, stored, stored.tag)
    }

    private func list(_ rows: [String: Item], _ path: String) throws -> TransportResponse {
        let query = (URLComponents(string: path)?.queryItems ?? []).compactMap { Int($0.value ?? "") }
        guard query.count == 2, query[0] == 0 || (query[0] >= horizon && query[0] <= last) else {
            return .problem(410, "unknownNumber")
        }
        let changed = rows.values.filter { $0.change > query[0] }.sorted { $0.change < $1.change }
        let page = Array(changed.prefix(max(0, query[1])))
        let (end, hasMore) = (page.last?.change ?? query[0], page.count < changed.count)
        return try .json(200, Feed(rows: page, last: end, total: changed.count, more: hasMore))
    }
}
