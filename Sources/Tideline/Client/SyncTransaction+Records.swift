public import TidelineStore

extension SyncTransaction {
    /// Inserts a record and queues the insert; see ``RecordTable/insert(_:)``.
    ///
    /// - Returns: The record as stored.
    @discardableResult
    public func insert<Record: TableRecord>(_ record: Record) throws -> Record {
        let shape = try perform { try $0.reading { try $0.shape(of: Record.tableName) } }
        let row = try mapped { try record.row(in: shape) }
        return try perform { try $0.insert(row, into: Record.tableName).record() }
    }

    /// Changes a stored record with a closure and queues the update; see ``RecordTable/update(_:_:)``.
    ///
    /// - Returns: The record as stored.
    @discardableResult
    public func update<Record: TableRecord>(
        _ id: ID<Record>, _ change: (inout Record) throws -> Void
    ) throws -> Record {
        let row = try perform { scope in
            try scope.options.requireRowWriting(table: Record.tableName, id: id.text)
            let shape = try scope.reading { try $0.shape(of: Record.tableName) }
            return try scope.update(id: id.text, in: Record.tableName) { row in
                let before: Record = try mapped { try row.record() }
                var after = before
                try change(&after)
                guard after.id == before.id else {
                    throw SyncError(
                        .invalidArgument, "the id of a record cannot be changed; delete the record and insert another",
                        table: Record.tableName, column: "id", id: id.text)
                }
                try mapped { try row.setChanges(from: before, to: after, in: shape) }
            }
        }.get()
        return try perform { _ in try row.record() }
    }

    /// Deletes the record with the given identifier and queues the delete; see ``RecordTable/delete(_:)``.
    public func delete<Record: TableRecord>(_ id: ID<Record>) throws {
        try delete(id: id.text, from: Record.tableName)
    }

    /// Returns the local records that match a query. Unlike ``RecordTable/fetch(_:unreadable:)``, throws for a row that
    /// does not fit the type, because what follows in the transaction depends on the rows.
    public func fetch<Record: TableRecord>(_ query: RecordQuery<Record>) throws -> [Record] {
        try querying(Record.tableName) { try $0.records(matching: query) }
    }

    /// Returns the local record with the given identifier, or `nil` if there is none.
    public func fetch<Record: TableRecord>(_ id: ID<Record>) throws -> Record? {
        try perform(isReading: true) { try $0.reading { try $0.checkedRecord(id) } }
    }

    /// Returns the number of local records that match a query; see ``RecordTable/count(_:)``.
    public func count<Record: TableRecord>(_ query: RecordQuery<Record>) throws -> Int {
        try querying(Record.tableName) { try $0.count(query.query) }
    }
}

extension TableRecord {
    /// Returns the record as a row of its table.
    fileprivate func row(in shape: RowShape) throws -> Row {
        var rows = PackedRows(shape: shape)
        try rows.append(CollectionOfOne(self))
        return rows.withRow(at: 0) { $0.owned() }
    }
}

extension Row {
    /// Sets the columns whose values differ between two versions of a record.
    ///
    /// The versions are compared with each other and not with the row: reading a value into a property and writing it
    /// back may change it, such as the digits of an instant beyond the precision of `Date`.
    fileprivate mutating func setChanges<Record: TableRecord>(
        from before: Record, to after: Record, in shape: RowShape
    ) throws {
        var rows = PackedRows(shape: shape)
        try rows.append([before, after])
        let changes = rows.withRow(at: 0) { before in
            rows.withRow(at: 1) { after in
                (0..<shape.count).compactMap { index -> (String, TidelineStore.Value)? in
                    let value = after.value(at: index)
                    return value == before.value(at: index) ? nil : (shape.columns[index].name, value ?? .null)
                }
            }
        }
        for (name, value) in changes { self[name] = value }
    }
}
