internal import TidelineStore
internal import TidelineWire

/// The check of rows that the app passes in, before anything is written.
enum RowInput {
    /// The row without system columns, ints made doubles where the column is of doubles.
    ///
    /// - Parameter isKnown: Whether the row exists, so that its id need not be one that a new row may have.
    /// - Throws: ``SyncError`` with code invalidArgument, naming table, column and id.
    static func checked(
        _ row: Row, for schema: TableSchema, isKnown: @autoclosure () throws -> Bool = false
    ) throws -> Row {
        try checkID(of: row, for: schema, isKnown: try isKnown())
        var checked: [(name: String, value: Value)] = []
        for (name, value) in row.values where !SystemColumns.names.contains(name) {
            checked.append((name, try fitted(value, column: name, id: row.id, schema: schema)))
        }
        return Row(id: row.key, distinctColumns: checked)
    }

    /// Refuses a row whose id is missing, of another type than the table's, or one that servers do not take.
    ///
    /// - Parameter isKnown: As for ``checked(_:for:isKnown:)``.
    static func checkID(
        of row: Row, for schema: TableSchema, isKnown: @autoclosure () throws -> Bool = false
    ) throws {
        if let id = row["id"], row.key?.type != schema.idType {
            throw SyncError(
                .invalidArgument, "the id \(id) has type \(id.type?.rawValue ?? "null"); ids of this table are text",
                table: schema.name, column: "id")
        }
        try checkID(row.id, of: schema, isKnown: try isKnown())
    }

    /// Refuses the name of a table that is blank.
    static func checkName(_ table: String) throws {
        guard table.allSatisfy(\.isWhitespace) else { return }
        throw SyncError(
            .invalidArgument, "the name of the table is blank; pass the name it has on the server", table: table)
    }

    /// Whether the local table has a row of that id.
    static func isStored(_ id: String, of schema: TableSchema, in reader: some StoreReader) throws -> Bool {
        try reader.withRow(in: schema.name, id: .string(id)) { _ in true } ?? false
    }

    /// - Parameter isKnown: As for ``checked(_:for:isKnown:)``; asked only where the id is not one for a new row.
    static func checkID(
        _ id: String, of schema: TableSchema, isKnown: @autoclosure () throws -> Bool = false
    ) throws {
        do {
            try ItemID.validate(id)
        } catch {
            if (try? ItemID.validateExisting(id)) != nil, try isKnown() { return }
            throw SyncError(
                .invalidArgument, error.message, table: schema.name, column: "id", id: id, cause: error)
        }
    }

    private static func fitted(_ value: Value, column name: String, id: String, schema: TableSchema) throws -> Value {
        func refuse(_ message: String) -> SyncError {
            SyncError(.invalidArgument, message, table: schema.name, column: name, id: id)
        }
        guard !name.hasPrefix("__") else { throw refuse("names that begin with __ are reserved") }
        guard let column = schema.column(name) else { throw refuse("the table does not define this column") }
        switch (value, column.type) {
        case (.null, _):
            guard column.isOptional else { throw refuse("the column must not be null") }
            return value
        case (.double(let number), .double):
            guard number.isFinite else { throw refuse("\(number) cannot be sent to a server") }
            return value
        case (.int(let number), .double):
            guard let double = Double(exactly: number) else { throw refuse("\(number) is no exact double") }
            return .double(double)
        case (.json(let text), .json):
            guard JSONRow.isArrayOrObject(text) else {
                throw refuse("the text is not a JSON array or object: \(text.prefix(100).debugDescription)")
            }
            return value
        default:
            guard value.type == column.type else {
                throw refuse("the value \(value) does not fit a column of type \(column.type.rawValue)")
            }
            return value
        }
    }
}

extension RowInput {
    /// The resolution with its item checked; the item's system columns are those of the server's row and stay.
    ///
    /// - Parameter id: The row that the resolution is for. An item may leave it out, but not name another.
    static func checked(
        _ resolution: OperationResolution, of id: String, for schema: TableSchema
    ) throws -> OperationResolution {
        switch resolution {
        case .discard, .modify(_, nil): resolution
        case .update(let item): .update(try checkedItem(item, of: id, for: schema))
        case .keep(let item): .keep(try checkedItem(item, of: id, for: schema))
        case .modify(let kind, let item?): .modify(kind, try checkedItem(item, of: id, for: schema))
        }
    }

    private static func checkedItem(_ item: Row, of id: String, for schema: TableSchema) throws -> Row {
        guard item.key == nil || schema.itemKey(item.id).isSameBytes(as: schema.itemKey(id)) else {
            throw SyncError(
                .invalidArgument, "the item is of the row \(item.id.debugDescription), not of \(id.debugDescription)",
                table: schema.name, id: id)
        }
        var checked = item
        for (name, value) in item.values where !SystemColumns.names.contains(name) {
            checked[name] = try fitted(value, column: name, id: item.id, schema: schema)
        }
        return checked
    }
}
