internal import CSQLite
internal import TidelineStore

extension Connection {
    /// Returns the generation number of the current snapshot. As the first read of a transaction, it fixes the
    /// snapshot.
    func generation() throws(StoreError) -> Int64 {
        let generation = try integer(FileFormat.selectGeneration)
        guard generation > 0 else { throw StoreError(.corrupt, "the definitions record is missing", path: path) }
        return generation
    }

    /// Loads all definitions in the current snapshot.
    func loadCatalog(generation: Int64) throws(StoreError) -> Catalog {
        let statement = try statements.take(FileFormat.selectDefinitions)
        defer { statements.putBack(statement) }
        var tables: [StoredTable] = []
        while try statement.step() {
            let stored = try StoredDefinition.decode(statement.text(1) ?? "", of: statement.text(0) ?? "", path: path)
            tables.append(StoredTable(stored.schema, retired: stored.retired))
        }
        return Catalog(generation: generation, tables: tables)
    }

    /// Applies a plan within the open transaction.
    func apply(_ plan: SchemaPlan) throws(StoreError) {
        forgetCatalog()
        for (statement, table) in plan.statements {
            do throws(StoreError) {
                try executeOnce(statement)
            } catch {
                throw Self.isOfExistingName(error) ? Self.nameInUse(error, table) : error
            }
        }
        for definition in plan.definitions {
            let save = try statements.take(FileFormat.saveDefinition)
            defer { statements.putBack(save) }
            guard let json = try? RecordJSON.encode(definition) else {
                throw StoreError(.schemaMismatch, "the definition cannot be encoded", table: definition.schema.name)
            }
            try save.bind([.string(definition.schema.name), .string(json)])
            try save.run()
        }
        try execute(FileFormat.advanceGeneration)
    }

    /// Whether a statement failed because the file has a table, view, index, or column of the name.
    private static func isOfExistingName(_ error: StoreError) -> Bool {
        guard error.engineCode == Int(SQLITE_ERROR) else { return false }
        return error.message.contains("already") || error.message.contains("duplicate column name")
    }

    /// The error for a name that another program uses: the definitions contain all names of the store's own.
    private static func nameInUse(_ error: StoreError, _ table: String) -> StoreError {
        StoreError(
            .schemaMismatch, "\(error.message); another program created it: choose another name, or remove it",
            table: table, path: error.path, engineCode: error.engineCode)
    }
}
