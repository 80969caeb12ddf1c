public import TidelineStore

extension SyncClient {
    /// Returns the local table of a record's type, which is synchronized with the server's table of the same name.
    public func table<Record: TableRecord>(_ type: Record.Type) -> RecordTable<Record> { RecordTable(context: context) }

    /// Creates the local tables of records, or adds columns, indexes, and references to existing ones, and applies the
    /// records' rules for conflicts; see ``MergingRecord``.
    ///
    /// Definitions only grow; see ``SyncClient/define(_:)``. A type may therefore gain an optional property, or one
    /// with a default value, and an index. A property that it loses leaves its column in the table, with null in new
    /// rows. To rename a property, keep the name of its column.
    /// - Throws: ``SyncError``, as ``SyncClient/define(_:)``; with code invalidArgument, with table and column, for a
    ///   new property without a default value that is not optional if the table has rows, and for a rule that does not
    ///   fit its column.
    public nonisolated(nonsending) func define(_ types: any TableRecord.Type...) async throws {
        for type in types where type.schema.name != type.tableName {
            throw SyncError(
                .invalidArgument,
                "the schema of \(type) is for the table \(type.schema.name.debugDescription); use its tableName, "
                    + type.tableName.debugDescription,
                table: type.tableName)
        }
        var rules: [String: [String: MergeRule]] = [:]
        for type in types { rules[type.tableName] = (type as? any MergingRecord.Type)?.mergeRules }
        try await define(types.map { $0.schema }, mergeRules: rules) { schema, earlier, reader in
            try schema.evolved(from: earlier, in: reader)
        }
    }
}

extension TableSchema {
    /// Returns the definition of a record's table, with the lost columns of an earlier definition as optional ones,
    /// because the record does not write them.
    ///
    /// - Throws: ``SyncError`` with code invalidArgument for a new column that existing rows cannot have.
    fileprivate func evolved(from earlier: TableSchema, in reader: any StoreReader) throws -> TableSchema {
        for column in columns where !column.isOptional && earlier.column(column.name) == nil {
            guard try reader.count(TableQuery(name)) > 0 else { break }
            throw SyncError(
                .invalidArgument,
                "the column is new and must not be null, but the table has rows; make the property optional, or give it a "
                    + "default value", table: name, column: column.name)
        }
        var evolved = self
        for column in earlier.columns where !column.isOptional && self.column(column.name) == nil {
            evolved.columns.append(ColumnSchema(column.name, column.type))
        }
        return evolved
    }
}

extension SyncSubscription {
    /// Creates a subscription to the records that match a query.
    ///
    /// With a query id, order, skip, and limit of the query are ignored; see ``RecordTable/pull(_:id:settings:)``.
    public init<Record: TableRecord>(
        _ query: RecordQuery<Record>, queryID: String?, priority: Int = 0, interval: Duration? = .seconds(60)
    ) {
        self.init(query.forPull(id: queryID), queryID: queryID, priority: priority, interval: interval)
    }
}
