internal import TidelineStore

extension PostgreSQLStore {
    /// Removes the store from a database: its tables and, if nothing else is in it, its schema. Other tables in the schema
    /// stay. Does nothing if there is no store.
    ///
    /// A store that is open elsewhere cannot be used afterwards.
    ///
    /// - Parameters:
    ///   - connection: The connection string or URL, as for opening.
    ///   - options: The schema of the store, and the time to wait for readers and writers.
    /// - Throws: ``StoreError``: ``StoreError/Code/io`` if the database cannot be used, with the reason;
    ///   ``StoreError/Code/notAStore``; ``StoreError/Code/busy`` if the store is in use for too long;
    ///   ``StoreError/Code/readOnly`` if there is no permission to remove it. Nothing is removed in these cases.
    public static func destroy(connection: String, options: PostgreSQLOptions = .init()) throws {
        let target = try ConnectionString(connection, schema: options.schema)
        let format = try StoreFormat(checking: options.schema)
        let connection = try target.connect()
        defer { connection.close() }
        try connection.configure(options)
        guard let catalog = try connection.existing(format) else { return }
        try connection.transaction { () throws(StoreError) in
            // Waits for writers. Tables that were defined in the meantime stay, and so does the schema with them.
            _ = try connection.execute(format.lockStore)
            let current = try connection.loadCatalog(format, generation: catalog.generation)
            for statement in format.removal(of: current.schemas.map(\.name)) { try connection.execute(statement) }
        }
        do throws(StoreError) {
            try connection.execute(format.dropSchema)
        } catch {
            // Other objects are in the schema, or it belongs to somebody else.
            guard error.hasState("2BP01", SQLState.insufficientPrivilege, SQLState.undefinedSchema) else { throw error }
        }
    }
}
