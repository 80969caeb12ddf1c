internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

extension TableService {
    func insert(
        _ body: [UInt8], into name: String, _ access: TableAccess, dialect: DialectName = .zumo2,
        callsStore: Bool
    ) throws -> WriteStep {
        var incoming = try RowBody(body, ignoresSystemColumns: dialect == .datasync3)
        if !incoming.id.isEmpty { try dialect.dialect.validateNewID(incoming.id) }
        try incoming.setOwner(access, isWholeRow: true)
        let target = try target(name, for: incoming, isInsert: true, callsStore: callsStore)
        var row = try row(of: incoming, in: target.table, isInsert: true)
        if row.id == nil { row.id = .string(options.makeID()) }
        row["deleted"] = false
        let key = row.id ?? .string(row.idText)
        return try write(row, id: key, into: target, size: body.count, access) { [self] row, table, transaction in
            if try transaction.hasRow(key, in: table, access) {
                var taken: TableResponse?
                if access.canRead {
                    taken = try transaction.withRow(key, in: table, access) { answer(.conflict, row: $0) }
                }
                return options.behavior.conflict?(body) ?? taken ?? Self.taken(key, in: table)
            }
            try table.requireValues(of: row, isNew: true)
            let stamp = try transaction.nextStamp(for: table.schema.name)
            var stored = row
            stored["createdAt"] = .timestamp(stamp)
            return try put(stored, stamped: stamp, into: table, transaction, status: .created)
        }
    }

    func update(
        _ id: String, in table: ServedTable, ifMatch: IfMatch?, body: [UInt8], _ access: TableAccess,
        callsStore: Bool
    ) throws -> WriteStep {
        var incoming = try RowBody(body)
        guard !incoming.columns.isEmpty else {
            throw RequestRejection(.badRequest, "an update needs a column to change")
        }
        try incoming.setOwner(access, isWholeRow: false)
        try table.requireID(id, of: incoming)
        let target = try target(table.schema.name, for: incoming, isInsert: false, callsStore: callsStore)
        let change = try row(of: incoming, in: target.table, isInsert: false)
        let version = incoming.version
        return try write(change, id: .string(id), into: target, size: body.count, access) {
            [self] change, table, transaction in
            try self.change(id, in: table, to: change, access, transaction) { row in
                if row.isDeleted { return try missing(id, in: table) }
                if let ifMatch { return refusal(of: row, by: ifMatch) }
                // Without If-Match, a version in the body is the version on which the change is based.
                guard let version, row["version"] != .string(version) else { return nil }
                return answer(.conflict, row: row)
            }
        }
    }

    /// Replaces a row by the one in the body. Columns that the body omits become null.
    ///
    /// - Parameter includeDeleted: Whether a soft-deleted row is restored.
    func replace(
        _ id: String, in table: ServedTable, ifMatch: IfMatch?, includeDeleted: Bool, body: [UInt8],
        _ access: TableAccess, callsStore: Bool
    ) throws -> WriteStep {
        var incoming = try RowBody(body, ignoresSystemColumns: true)
        guard !incoming.isDeleted else {
            throw RequestRejection(.badRequest, "a PUT cannot delete a row; send DELETE")
        }
        try incoming.setOwner(access, isWholeRow: true)
        try table.requireID(id, of: incoming)
        let target = try target(table.schema.name, for: incoming, isInsert: false, callsStore: callsStore)
        let content = try row(of: incoming, in: target.table, isInsert: false)
        return try write(content, id: .string(id), into: target, size: body.count, access) {
            [self] content, table, transaction in
            var row = Row(id: content.id, distinctColumns: table.schema.columns.map { ($0.name, .null) })
            row = row.merging(content)
            row["deleted"] = false
            return try self.change(id, in: table, to: row, access, transaction) { stored in
                if stored.isDeleted, !includeDeleted { return try missing(id, in: table) }
                return refusal(of: stored, by: ifMatch)
            }
        }
    }

    func delete(_ id: String, from table: ServedTable, ifMatch: IfMatch?, _ access: TableAccess) -> WriteStep {
        guard options.behavior.leavesTombstones else { return remove(id, from: table, ifMatch: ifMatch, access) }
        return write(to: table, id: .string(id), access) { [self] transaction in
            try self.change(id, in: table, to: ["deleted": true], access, transaction) { row in
                row.isDeleted ? try missing(id, in: table) : refusal(of: row, by: ifMatch)
            }
        }
    }

    /// Deletes a row without leaving a tombstone.
    private func remove(
        _ id: String, from table: ServedTable, ifMatch: IfMatch?, _ access: TableAccess
    ) -> WriteStep {
        write(to: table, id: .string(id), access) { [self] transaction in
            let found = try transaction.withRow(.string(id), in: table, access) { row in
                refusal(of: row, by: ifMatch) ?? answer(.ok, row: row)
            }
            guard let found else { return try missing(id, in: table) }
            if found.response.status == .ok { try transaction.delete(.string(id), from: table) }
            return found
        }
    }

    func undelete(
        _ id: String, in table: ServedTable, ifMatch: IfMatch?, body: [UInt8], _ access: TableAccess
    ) throws -> WriteStep {
        guard body.isEmpty else {
            throw RequestRejection(.badRequest, "a POST to a row undeletes it and must have no body")
        }
        return write(to: table, id: .string(id), access) { [self] transaction in
            try self.change(id, in: table, to: ["deleted": false], access, transaction) { row in
                if let refusal = refusal(of: row, by: ifMatch) { return refusal }
                return row.isDeleted ? nil : answer(.ok, row: row)
            }
        }
    }

    /// Merges `change` into a row, unless the row does not exist for the caller or `answer` returns another response
    /// for the current row.
    private func change(
        _ id: String, in table: ServedTable, to change: Row, _ access: TableAccess,
        _ transaction: WriteTransaction<Store>,
        unless answer: (borrowing RowView) throws -> TableResponse?
    ) throws -> TableResponse {
        var change = change
        var previous: String?
        let found: TableResponse?? = try transaction.withRow(.string(id), in: table, access) { row in
            change.id = row.id
            previous = row["version"]?.string
            return try answer(row)
        }
        guard let other = found else { return try missing(id, in: table) }
        if let other { return other }
        try table.requireValues(of: change, isNew: false)
        let stamp = try transaction.nextStamp(for: table.schema.name)
        return try put(change, after: previous, stamped: stamp, into: table, transaction, status: .ok)
    }

    /// Writes the row with its timestamp and a new version, and returns a response with the whole row.
    ///
    /// - Parameter previous: The version of the changed row; `nil` for a new row.
    private func put(
        _ row: Row, after previous: String? = nil, stamped stamp: Timestamp, into table: ServedTable,
        _ transaction: WriteTransaction<Store>, status: HTTPResponse.Status
    ) throws -> TableResponse {
        let version = options.behavior.version?(previous) ?? options.makeVersion()
        return try transaction.upsert(row, version: version, stamp: stamp, into: table) { answer(status, row: $0) }
    }

    /// Returns the response to an insert of an id that exists, without the row, which the caller must not see.
    private static func taken(_ id: RowID, in table: ServedTable) -> TableResponse {
        TableResponse(
            .conflict,
            error:
                "table \(table.schema.name.debugDescription) has a row with id \(id.text.debugDescription); use another id"
        )
    }

    /// Returns the row in a body with the column types of the table.
    private func row(of body: RowBody, in table: ServedTable, isInsert: Bool) throws -> Row {
        let row = try body.typed(by: table)
        return options.behavior.row?(row, isInsert) ?? row
    }

    /// Returns the response for a row whose version does not match the request's `If-Match` header; `nil` if it
    /// matches.
    private func refusal(of row: borrowing RowView, by ifMatch: IfMatch?) -> TableResponse? {
        guard let ifMatch else { return nil }
        let version = row["version"]?.string
        let isAllowed = options.behavior.allows?(ifMatch, version) ?? ifMatch.allows(version)
        return isAllowed ? nil : answer(.preconditionFailed, row: row)
    }

    /// Returns the table for a row, with all columns for which the row has a value; does not create anything yet.
    private func target(
        _ name: String, for body: RowBody, isInsert: Bool, callsStore: Bool
    ) throws -> WriteTarget {
        let grows = options.createsTablesOnFirstInsert
        var current = catalog.table(name)
        if unknownColumns(of: body, in: current)?.isEmpty != true {
            guard callsStore else { throw StoreNeeded() }
            // Another service may have created the table or the columns.
            try catalog.refresh(name)
            current = catalog.table(name)
        }
        try options.behavior.validate?((body.columns, current?.schema, isInsert, addsColumns: grows))
        guard let current, let unknown = unknownColumns(of: body, in: current) else {
            guard isInsert, grows else { return WriteTarget(table: try table(name)) }
            let columns = body.columns.columnSchemas
            return WriteTarget(table: try catalog.preview(name, with: columns), missing: columns, current: nil)
        }
        guard grows else {
            guard let first = unknown.first else { return WriteTarget(table: current) }
            throw RequestRejection(
                .badRequest,
                "table \(name.debugDescription) has no column \(first.name.debugDescription)"
                    + current.schema.suggestion(for: first.name))
        }
        let missing = unknown.columnSchemas
        guard !missing.isEmpty else { return WriteTarget(table: current) }
        return WriteTarget(table: try catalog.preview(name, with: missing), missing: missing, current: current)
    }

    /// Returns the columns of a body that the table lacks, or `nil` without a table.
    private func unknownColumns(of body: RowBody, in table: ServedTable?) -> [(name: String, value: Value)]? {
        table.map { table in body.columns.filter { table.parser.shape.index(of: $0.name) == nil } }
    }

    /// Returns a write whose `body` runs in a transaction, on a table that has all columns of the row.
    ///
    /// A missing table or column is created only if the request succeeds. Therefore, `body` first runs with the columns
    /// that the table already has, in a transaction that is rolled back.
    private func write(
        _ row: Row, id: RowID, into target: WriteTarget, size: Int, _ access: TableAccess,
        _ body: @escaping @Sendable (Row, ServedTable, WriteTransaction<Store>) throws -> TableResponse
    ) throws -> WriteStep {
        guard let missing = target.missing else {
            return write(to: target.table, id: id, size: size, access) { try body(row, target.table, $0) }
        }
        if let current = target.current {
            let known = row.filteringColumns { current.parser.shape.index(of: $0) != nil }
            let answer = try rehearse(on: current) { try body(known, current, $0) }
            guard answer.response.status.kind == .successful else { return .respond(answer) }
        }
        let table = try catalog.table(target.table.schema.name, with: missing)
        return write(to: table, id: id, size: size, access) { try body(row, table, $0) }
    }

    private func write(
        to table: ServedTable, id: RowID, size: Int = 0, _ access: TableAccess,
        _ body: @escaping @Sendable (WriteTransaction<Store>) throws -> TableResponse
    ) -> WriteStep {
        .write(PendingWrite(table: table, id: id, size: size, owner: access.owner, body: body))
    }

    /// Returns the response of `body` in a transaction that is rolled back.
    private func rehearse(
        on table: ServedTable, _ body: (WriteTransaction<Store>) throws -> TableResponse
    ) throws -> TableResponse {
        do {
            return try store.write { writer in
                let transaction = try WriteTransaction<Store>(writer, options)
                try transaction.requireCurrent(table)
                throw Rehearsal(answer: try body(transaction))
            }
        } catch let rehearsal as Rehearsal {
            return rehearsal.answer
        }
    }
}

/// Rolls back a transaction of which only the response is needed.
private struct Rehearsal: Error {
    let answer: TableResponse
}

/// The destination of a row.
private struct WriteTarget {
    /// The table with all columns that the row needs.
    let table: ServedTable
    /// The columns that must be created, which can be empty for a table that does not exist; `nil` if there is nothing
    /// to create.
    var missing: [ColumnSchema]?
    /// The existing table, if there is one.
    var current: ServedTable?
}

extension ServedTable {
    /// Checks that a row has a value for each column that must not be null, so that the store does not refuse it.
    fileprivate func requireValues(of row: Row, isNew: Bool) throws {
        for column in schema.columns where !column.isOptional {
            guard row[column.name].map({ $0.isNull }) ?? isNew else { continue }
            let error = StoreError(
                .invalidValue, "the column must not be null", table: schema.name, column: column.name, id: row.idText)
            throw RequestRejection(.badRequest, error.description)
        }
    }

    /// Checks that a body has no id, or one that identifies the same row as the id in the path.
    fileprivate func requireID(_ id: String, of body: RowBody) throws {
        guard !body.id.isEmpty else { return }
        let isSame =
            switch schema.idMatching {
            case .asciiCaseInsensitive: body.id.asciiLowercased.utf8.elementsEqual(id.asciiLowercased.utf8)
            case .exact: body.id.utf8.elementsEqual(id.utf8)
            }
        guard isSame else {
            throw RequestRejection(.badRequest, "the id in the body differs from the id in the path")
        }
    }
}

extension [(name: String, value: Value)] {
    /// Columns for these values, by type; null values give no column.
    fileprivate var columnSchemas: [ColumnSchema] {
        compactMap { column in column.value.type.map { ColumnSchema(column.name, $0) } }
    }
}
