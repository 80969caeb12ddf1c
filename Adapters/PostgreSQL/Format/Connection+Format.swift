internal import TidelineStore

extension Connection {
    /// Verifies that the schema contains a store that this adapter supports, creates it if it may, and returns its
    /// definitions.
    func prepareStore(_ format: StoreFormat, _ options: PostgreSQLOptions) throws(StoreError) -> Catalog {
        guard serverVersion >= 120_000 else {
            throw StoreError(.io, "the server is older than PostgreSQL 12; update it", path: place)
        }
        guard reported("server_encoding") == "UTF8" else {
            throw StoreError(
                .io,
                "the database has the encoding \(reported("server_encoding") ?? ""); create one with ENCODING 'UTF8'",
                path: place)
        }
        if let catalog = try existing(format) { return catalog }
        guard options.createsIfMissing, !options.isReadOnly else {
            throw StoreError(
                .io, "there is no store in the schema, and the options do not allow creating it", path: place,
                cause: MissingStore())
        }
        return try Deadline(after: options.busyTimeout).retrying(while: Self.isRace) { () throws(StoreError) in
            try self.create(format, options.schema)
            guard let catalog = try self.existing(format) else {
                throw StoreError(.io, "the store was removed while it was opened", path: self.place)
            }
            return catalog
        }
    }

    /// Returns the definitions of the store, or `nil` if there is none.
    func existing(_ format: StoreFormat) throws(StoreError) -> Catalog? {
        do throws(StoreError) {
            let start = try beginReading(format)
            defer { rollBack() }
            return try loadCatalog(format, generation: start.generation)
        } catch {
            if error.hasState(SQLState.undefinedTable, SQLState.undefinedSchema) { return nil }
            guard error.hasState(SQLState.undefinedColumn) else { throw error }
            throw StoreError(
                .notAStore, "the table tideline_store belongs to another program; choose another schema", path: place)
        }
    }

    private func create(_ format: StoreFormat, _ schema: String) throws(StoreError) {
        try transaction { () throws(StoreError) in
            var name = Parameters()
            name.append(.string(schema.storedName), as: .text)
            // Creating a schema needs a permission even if it exists.
            if try self.runOnce(StoreFormat.selectSchema, name).count == 0 { try self.execute(format.createSchema) }
            for statement in format.creation { try self.execute(statement, doing: "the store could not be created") }
        }
    }

    /// Whether another process created the same object at the same time, or excluded this one.
    private static func isRace(_ error: StoreError) -> Bool {
        error.code == .busy
            || error.hasState(SQLState.uniqueViolation, SQLState.duplicateTable, SQLState.duplicateSchema)
    }

    /// Loads all definitions as of the current transaction.
    func loadCatalog(_ format: StoreFormat, generation: Int64) throws(StoreError) -> Catalog {
        let rows = try run(format.selectDefinitions)
        var tables: [StoredTable] = []
        for row in 0..<rows.count {
            let stored = try StoredDefinition.decode(rows.text(row, 1) ?? "", of: rows.text(row, 0) ?? "", path: place)
            tables.append(StoredTable(stored, in: format.schema))
        }
        return Catalog(generation: generation, tables: tables)
    }

    /// Applies a plan within the open transaction.
    func apply(_ plan: SchemaPlan, _ format: StoreFormat) throws(StoreError) {
        for (statement, table) in plan.statements {
            do throws(StoreError) {
                try execute(statement, doing: "the table could not be defined")
            } catch {
                let isInUse = error.hasState(
                    SQLState.duplicateTable, SQLState.duplicateColumn, SQLState.duplicateObject)
                guard isInUse else { throw error.inTable(table) }
                throw StoreError(
                    .schemaMismatch, "\(error.message); another program created it: choose another name or schema",
                    table: table, path: place, engineCode: error.engineCode)
            }
        }
        for definition in plan.definitions {
            guard let json = try? RecordJSON.encode(definition) else {
                throw StoreError(.schemaMismatch, "the definition cannot be encoded", table: definition.schema.name)
            }
            var parameters = Parameters()
            parameters.append(.string(definition.schema.name), as: .text)
            parameters.append(.string(json), as: .text)
            try run(format.saveDefinition, parameters)
        }
        try execute(format.advanceGeneration)
    }
}
