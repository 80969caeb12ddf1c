internal import HTTPTypes
internal import TidelineStore
internal import TidelineWire

/// The access of one caller to one table, for one request whose right was checked.
///
/// Everything that a request reads or changes passes through it: ``limit(_:)`` for pages and counts,
/// ``withRow(_:in:_:_:)`` for single rows, and ``RowBody/setOwner(_:isWholeRow:)`` for written rows.
struct TableAccess: Sendable {
    let table: String
    /// The column and the value of the rows that the caller may see, or `nil` if they are all rows.
    let owner: (column: String, userID: String)?
    /// Whether the caller may read rows.
    let canRead: Bool

    /// The right that a request needs.
    enum Right: String {
        case read, insert, update, delete

        fileprivate func holder(in rights: TableRights) -> TableRights.Holder {
            switch self {
            case .read: rights.read
            case .insert: rights.insert
            case .update: rights.update
            case .delete: rights.delete
            }
        }
    }

    /// Checks a right.
    ///
    /// - Throws: ``RequestRejection`` with 401 if the caller must sign in, and with 403 if that would not help.
    init(_ right: Right, to table: String, rights: TableRights, caller: Caller) throws(RequestRejection) {
        let place = "table \(table.debugDescription)"
        let holder = right.holder(in: rights)
        guard holder != .nobody else {
            throw RequestRejection(.forbidden, "\(place): no client has the right to \(right.rawValue) rows")
        }
        let needsUser = holder == .signedIn || rights.owner != nil
        guard caller.userID != nil || !needsUser else {
            throw RequestRejection(.unauthorized, "\(place): sign in to \(right.rawValue) rows")
        }
        self.table = table
        canRead = rights.read.includes(caller)
        if let column = rights.owner, let userID = caller.userID {
            owner = (column, userID)
        } else {
            owner = nil
        }
    }

    /// Returns the query for the caller's rows among those of another query.
    func limit(_ query: TableQuery) -> TableQuery {
        guard let owner else { return query }
        return query.filter(.column(owner.column) == .literal(.string(owner.userID)))
    }

    /// Calls `body` with a row, or returns `nil` if it does not exist for the caller. The store tests the owner, so
    /// that the row of another one is not read whole.
    func withRow<T>(
        _ id: RowID, in table: ServedTable, _ reader: some StoreReader, _ body: (borrowing RowView) throws -> T
    ) throws -> T? {
        guard owner != nil else { return try reader.withRow(in: table.schema.name, id: id, body) }
        var result: T?
        try reader.scan(limit(TableQuery(table.schema.name).filter(.column("id") == .literal(id.value)))) { row in
            result = try body(row)
            return .stop
        }
        return result
    }

    /// Returns whether a row exists for the caller.
    func includes(_ row: borrowing RowView) -> Bool {
        guard let owner else { return true }
        return row[owner.column] == .string(owner.userID)
    }
}

extension TableRights.Holder {
    /// Returns whether a caller has a right of this holder.
    func includes(_ caller: Caller) -> Bool {
        switch self {
        case .anyone: true
        case .signedIn: caller.userID != nil
        case .nobody: false
        }
    }
}

extension TableRequest {
    /// The right that the request needs. An undelete and a replacement change a row.
    var right: TableAccess.Right {
        switch self {
        case .read, .lookup: .read
        case .insert: .insert
        case .update, .replace, .undelete: .update
        case .delete: .delete
        }
    }
}

extension TableServiceOptions {
    func rights(of table: String) -> TableRights { rights[table] ?? defaultRights }

    /// The rules for the definitions of the tables.
    var servedSchemas: ServedSchemas { ServedSchemas { rights(of: $0).owner } }

    /// Checks the rights against the tables, so that none is without effect.
    ///
    /// - Throws: ``StoreError/Code/schemaMismatch`` for rights of a table that is not served, for an owner column that
    ///   the table lacks or that is no string column, and the errors of ``TableRights/validate(for:)``.
    func validateRights(of tables: [TableSchema]) throws {
        try defaultRights.validate(for: "all tables without rights of their own")
        for name in rights.keys.sorted() where !tables.contains(where: { $0.name == name }) {
            throw StoreError(.schemaMismatch, "rights are specified for a table that is not served", table: name)
        }
        for table in tables {
            let rights = rights(of: table.name)
            try rights.validate(for: table.name)
            guard let owner = rights.owner else { continue }
            guard let column = table.columns.first(where: { $0.name == owner }), column.type == .string
            else {
                throw StoreError(
                    .schemaMismatch,
                    "the rights of the table need this column with the identifier of a row's user; add a string column",
                    table: table.name, column: owner)
            }
        }
    }
}
