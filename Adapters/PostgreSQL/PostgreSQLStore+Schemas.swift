internal import Foundation
internal import TidelineStore

extension PostgreSQLStore {
    /// Returns the name of the schema that stands for a folder, for commands that create stores in folders.
    package static func schemaName(_ prefix: String, folder: String) -> String {
        "\(prefix)_\(URL(fileURLWithPath: folder).standardizedFileURL.path.nameHash)"
    }

    /// Removes all schemas whose names begin with a prefix, with everything in them, whether stores are open or not.
    ///
    /// - Throws: ``StoreError/Code/io`` if the database cannot be used, with the reason; ``StoreError/Code/readOnly``
    ///   if there is no permission to remove a schema.
    package static func removeSchemas(withPrefix prefix: String, connection: String) throws {
        let connection = try ConnectionString(connection, schema: prefix).connect(
            responseTimeout: .seconds(60))
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
