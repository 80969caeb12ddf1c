internal import Foundation
internal import TidelineStore

extension PostgreSQLStore {
    /// Removes the store from a database: its tables and, if nothing else is in it, its schema. Other tables in the
    /// schema stay. Does nothing if there is no store.
    ///
    /// A store that is open is recognized by its connections to the server. One that is connected as another user, or
    /// whose connections were lost, is not recognized and cannot be used afterward.
    ///
    /// - Parameters:
    ///   - connection: The connection string or URL, as for opening.
    ///   - options: The schema of the store, and the time to wait for readers and writers.
    /// - Throws: ``StoreError``: ``StoreError/Code/io`` if the database cannot be used, with the reason;
    ///   ``StoreError/Code/notAStore``; ``StoreError/Code/locked`` if the store stays open, in this process or another;
    ///   ``StoreError/Code/readOnly`` if there is no permission to remove it. Nothing is removed in these cases.
    public static func destroy(connection: String, options: PostgreSQLOptions = .init()) throws {
        let target = try ConnectionString(connection, schema: options.schema)
        let format = try StoreFormat(checking: options.schema)
        let connection = try target.connect(responseTimeout: options.responseTimeout)
        defer { connection.close() }
        try connection.configure(options)
        guard let catalog = try connection.existing(format) else { return }
        // The server ends a connection some time after it was closed.
        try Deadline(after: options.busyTimeout).retrying(while: \.isLocked) { () throws(StoreError) in
            guard try connection.isAlone() else {
                throw StoreError(
                    .locked, "the store is open in this or another process; close it first", path: target.place)
            }
        }
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

    /// Returns the name of the schema that stands for a folder, for commands that create stores in folders.
    package static func schemaName(_ prefix: String, folder: String) -> String {
        "\(prefix)_\(URL(fileURLWithPath: folder).standardizedFileURL.path.nameHash)"
    }

    /// Removes all schemas whose names begin with a prefix, with everything in them, whether stores are open or not.
    ///
    /// - Throws: ``StoreError/Code/io`` if the database cannot be used, with the reason; ``StoreError/Code/readOnly``
    ///   if there is no permission to remove a schema.
    package static func removeSchemas(withPrefix prefix: String, connection: String) throws {
        let connection = try ConnectionString(connection, schema: prefix).connect(responseTimeout: .seconds(60))
        defer { connection.close() }
        var parameters = Parameters()
        parameters.append(.string(prefix), as: .text)
        let names = try connection.runOnce(
            "SELECT nspname FROM pg_catalog.pg_namespace WHERE left(nspname, length($1)) = $1", parameters)
        for row in 0..<names.count {
            guard let name = names.text(row, 0) else { continue }
            try connection.execute("DROP SCHEMA IF EXISTS \(name.sqlName) CASCADE")
        }
    }
}

extension StoreError {
    fileprivate var isLocked: Bool { code == .locked }
}

extension Connection {
    /// Whether no other connection has the name of this one, which all stores in a schema share.
    fileprivate func isAlone() throws(StoreError) -> Bool {
        let others = try execute(
            """
            SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database() \
            AND application_name = current_setting('application_name') AND pid <> pg_backend_pid()
            """)
        return others.text(0, 0) == "0"
    }
}
