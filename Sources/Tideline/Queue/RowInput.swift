internal import TidelineStore
internal import TidelineWire

/// Validates rows from the app before anything is written. An invalid row throws ``SyncError`` with code
/// invalidArgument, which names table, column, and id.
enum RowInput {
    /// Returns the row without system columns, with integers converted to doubles for columns of type double.
    ///
    /// - Parameter isKnown: Whether the row exists. The identifier of an existing row need not be valid for a new row.
    static func checked(
        _ row: Row, for schema: TableSchema, isKnown: @autoclosure () throws -> Bool = false
    ) throws -> Row {
        try checkID(of: row, for: schema, isKnown: try isKnown())
        var checked: [(name: String, value: Value)] = []
        let values = row.values
        checked.reserveCapacity(values.count)
        for (position, (name, value)) in values.enumerated() where !SystemColumns.contains(name: name) {
            checked.append((name, try fitted(value, column: name, guess: position, id: row.idText, schema: schema)))
        }
        return Row(id: row.id, distinctColumns: checked)
    }

    /// Checks a row with an identifier that exists, as ``checked(_:for:isKnown:)`` does.
    static func check(_ row: Row, for schema: TableSchema) throws {
        try checkID(of: row, for: schema, isKnown: true)
        for (position, (name, value)) in row.values.enumerated() where !SystemColumns.contains(name: name) {
            _ = try fitted(value, column: name, guess: position, id: row.idText, schema: schema)
        }
    }

    /// Begins a row of the batch with the columns of a row from the app, without system columns, and with integers
    /// converted to doubles for columns of type double. The caller sets the identifier and ends the row.
    ///
    /// - Parameters:
    ///   - completing: Whether the optional columns that the row lacks are null, as in a new row.
    ///   - rows: A batch for rows of the table, which is not usable after an error.
    static func pack(
        _ row: Row, for schema: TableSchema, completing: Bool, into rows: inout PackedRows
    ) throws {
        rows.beginRow()
        let id = row.idText
        var next = 0
        for (name, value) in row.values {
            // The app's columns precede the system columns.
            guard let index = rows.shape.index(of: name, guess: next), index < schema.columns.count else {
                if SystemColumns.contains(name: name) { continue }
                throw undefined(name, id: id, schema)
            }
            next = index + 1
            switch (value, schema.columns[index].type) {
            case (.string, .string), (.bool, .bool), (.int, .int), (.timestamp, .timestamp):
                // Nothing else is checked, so the value and the column are not copied.
                rows.set(value, at: index)
            default: rows.set(try fitted(value, to: schema.columns[index], id: id, schema), at: index)
            }
        }
        if completing { rows.completeRow() }
    }

    /// Returns the columns that differ between a stored row and its changed copy. The identifier must not differ.
    static func edits(from stored: Row, to changed: Row, of schema: TableSchema) throws -> Row {
        guard changed["id"] == stored["id"] else {
            throw SyncError(
                .invalidArgument, "the id of a row cannot be changed; delete the row and insert another",
                table: schema.name, column: "id", id: stored.idText)
        }
        var edits = Row(id: stored.id)
        for name in stored.columnNames where changed[name] == nil { edits[name] = .null }
        for (name, value) in changed.values where value != stored[name] ?? .null { edits[name] = value }
        return try checked(edits, for: schema, isKnown: true)
    }

    /// Throws if the row's identifier is missing, differs in type from the table's identifiers, or is not accepted by
    /// servers.
    static func checkID(
        of row: Row, for schema: TableSchema, isKnown: @autoclosure () throws -> Bool = false
    ) throws {
        if row.id?.type != schema.idType, let id = row["id"] {
            throw SyncError(
                .invalidArgument,
                "the id \(id) has type \(id.type?.rawValue ?? "null"); ids of this table have type \(schema.idType)",
                table: schema.name, column: "id", id: row.id?.text)
        }
        try checkID(row.idText, of: schema, isKnown: try isKnown())
    }

    /// Throws if the name of a table is blank, or in another form than those that can be defined: names are stored with
    /// operations and tokens, where they are values.
    static func checkName(_ table: String) throws {
        if let form = table.differingFormC {
            throw SyncError(
                .invalidArgument,
                "the table name \(table.escapedASCII) is not in Unicode's normalization form C; write it "
                    + form.escapedASCII, table: table)
        }
        // Most names begin with a letter of ASCII, for which the properties of characters need not be looked up.
        if let first = table.utf8.first, first > 0x20, first < 0x7F { return }
        guard table.allSatisfy(\.isWhitespace) else { return }
        throw SyncError(
            .invalidArgument, "the table name is blank; pass the name of the table on the server", table: table)
    }

    /// Returns whether the local table has a row with the given identifier.
    static func isStored(_ id: String, of schema: TableSchema, in reader: some StoreReader) throws -> Bool {
        try reader.withRow(in: schema.name, id: .string(id)) { _ in true } ?? false
    }

    /// - Parameter isKnown: As for ``checked(_:for:isKnown:)``; evaluated only if the identifier is not valid for a new
    ///   row.
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

    /// - Parameter guess: The probable position of the column in the definition.
    private static func fitted(
        _ value: Value, column name: String, guess: Int = 0, id: String, schema: TableSchema
    ) throws -> Value {
        let isGuessed = guess < schema.columns.count && schema.columns[guess].name == name
        guard let column = isGuessed ? schema.columns[guess] : schema.column(name) else {
            throw undefined(name, id: id, schema)
        }
        return try fitted(value, to: column, id: id, schema)
    }

    private static func undefined(_ name: String, id: String, _ schema: TableSchema) -> SyncError {
        let message =
            name.isReserved
            ? "names that begin with __ are reserved"
            : "the table does not define this column" + schema.suggestion(for: name)
        return SyncError(.invalidArgument, message, table: schema.name, column: name, id: id)
    }

    private static func fitted(
        _ value: Value, to column: ColumnSchema, id: String, _ schema: TableSchema
    ) throws -> Value {
        func refuse(_ message: String) -> SyncError {
            SyncError(.invalidArgument, message, table: schema.name, column: column.name, id: id)
        }
        switch (value, column.type) {
        case (.null, _):
            guard column.isOptional else { throw refuse("the column must not be null") }
            return value
        case (.double(let number), .double):
            guard number.isFinite else { throw refuse("\(number) cannot be sent to a server; use a finite number") }
            return value
        case (.int(let number), .double):
            guard let double = Double(exactly: number) else {
                throw refuse("\(number) cannot be represented exactly as a double")
            }
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
    /// Returns the resolution with a validated item. The item keeps its system columns, which are those of the server's
    /// row.
    ///
    /// - Parameter id: The identifier of the row to resolve. An item may omit it but must not name another row.
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
        guard item.id == nil || schema.hasSameKey(item.idText, id) else {
            throw SyncError(
                .invalidArgument,
                "the item has the id \(item.idText.debugDescription); the operation is for \(id.debugDescription)",
                table: schema.name, id: id)
        }
        var checked = item
        for (name, value) in item.values where !SystemColumns.names.contains(name) {
            checked[name] = try fitted(value, column: name, id: item.idText, schema: schema)
        }
        return checked
    }
}
