internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The responses in the dialect Datasync 3.
extension TableService {
    func stepAsDatasync(
        to meaning: TableRequest, _ request: HTTPRequest, body: [UInt8], _ access: TableAccess,
        callsStore: Bool
    ) throws -> WriteStep {
        if case .insert(let name) = meaning {
            return try insert(body, into: name, access, dialect: .datasync3, callsStore: callsStore).map { _, answer in
                self.located(try answer(), request, at: name)
            }
        }
        let table = try table(meaning.table)
        func write(_ step: WriteStep, _ id: String) -> WriteStep {
            step.map { transaction, answer in
                try self.requireNotDeleted(answer) { try transaction.withRow(.string(id), in: table, access, $0) }
            }
        }
        switch try options.behavior.request?(meaning) ?? meaning {
        case .read where !callsStore, .lookup where !callsStore: throw StoreNeeded()
        case .read(let wanted): return .respond(try readAsDatasync(wanted, from: table, for: request, access))
        case .lookup(_, let id, let includeDeleted):
            return try answer(id, in: table, access) { reader in
                try lookup(id, in: table, includeDeleted: includeDeleted, access, reader)
            }
        case .replace(_, let id, let ifMatch, let includeDeleted):
            do {
                return write(
                    try replace(
                        id, in: table, ifMatch: ifMatch, includeDeleted: includeDeleted, body: body, access,
                        callsStore: callsStore), id)
            } catch let rejection as RequestRejection where rejection.status == .notFound {
                return try answer(id, in: table, access) { _ in throw rejection }
            }
        case .delete(_, let id, let ifMatch):
            return write(delete(id, from: table, ifMatch: ifMatch, access), id).map { _, answer in
                Self.withoutRow(try answer())
            }
        case .insert, .update, .undelete:
            throw RequestRejection(.methodNotAllowed, "the request does not belong to this dialect")
        }
    }

    /// Responds to a request for a row with the response of `answer`, or with 410 if the row is soft-deleted.
    private func answer(
        _ id: String, in table: ServedTable, _ access: TableAccess, _ answer: (Store.Reader) throws -> TableResponse
    ) throws -> WriteStep {
        .respond(
            try readRow(access) { reader in
                try requireNotDeleted {
                    try answer(reader)
                } row: {
                    try access.withRow(.string(id), in: table, reader, $0)
                }
            })
    }

    /// Returns the response of `answer`, and replaces 404 for a soft-deleted row by 410.
    ///
    /// - Parameter row: Calls its argument with the row, if there is one for the caller.
    private func requireNotDeleted(
        _ answer: () throws -> TableResponse,
        row: ((borrowing RowView) throws -> Bool) throws -> Bool?
    ) throws -> TableResponse {
        do {
            return try answer()
        } catch var rejection as RequestRejection where rejection.status == .notFound {
            if try row({ $0.isDeleted }) ?? false { rejection.status = .gone }
            throw rejection
        }
    }

    /// Returns the response to a deletion, which has no body if it succeeded.
    private static func withoutRow(_ answer: TableResponse) -> TableResponse {
        guard answer.response.status == .ok else { return answer }
        return TableResponse(response: HTTPResponse(status: .noContent), body: [])
    }

    /// Adds the address of an inserted row.
    private func located(_ answer: TableResponse, _ request: HTTPRequest, at table: String) -> TableResponse {
        guard answer.response.status == .created, let row = try? JSONRow.parse(answer.body) else { return answer }
        let origin = origin(of: request) ?? ""
        var answer = answer
        answer.response.headerFields[.location] =
            "\(origin)/tables/\(PercentEncoding.encode(table))/\(PercentEncoding.encode(row.idText))"
        return answer
    }

    /// Returns a page: `{"items":[…],"count":n,"nextLink":"…"}`. Columns that are null are omitted.
    private func readAsDatasync(
        _ wanted: TableRead, from table: ServedTable, for request: HTTPRequest, _ access: TableAccess
    ) throws -> TableResponse {
        let size = min(wanted.top ?? .max, options.datasyncPageSize)
        var rows = PageRows(maximumCount: size, maximumBytes: options.maximumPageBytes, omitsNulls: true)
        var total: Int?
        rows.writer.bytes += Array("{\"items\":".utf8)
        rows.writer.beginArray()
        if let (page, condition) = try page(of: wanted, from: table, access) {
            var query = page
            // One more row shows whether there is a next page.
            query.limit = size + 1
            total = try readInTime { reader in
                try table.requireCurrent(in: reader)
                return try scan(query, where: condition, reader) { rows.append($0) }
            }
        }
        rows.writer.endArray()
        if wanted.includesTotalCount { rows.writer.bytes += Array(",\"count\":\(total ?? 0)".utf8) }
        let left = wanted.top.map { $0 - rows.count }
        let (skip, overflow) = wanted.skip.addingReportingOverflow(rows.count)
        if rows.hasMore, rows.count > 0, left ?? 1 > 0, !overflow {
            rows.writer.bytes += Array(",\"nextLink\":".utf8)
            rows.writer.append(string: LinkHeader.nextQuery(target: request.path ?? "", skip: skip, top: left))
        }
        rows.writer.bytes.append(UInt8(ascii: "}"))
        return TableResponse(.ok, json: rows.writer.bytes)
    }
}
