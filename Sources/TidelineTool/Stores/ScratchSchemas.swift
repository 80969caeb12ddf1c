#if PostgreSQL
internal import ArgumentParser
internal import Foundation
internal import Synchronization
internal import TidelinePostgreSQL
internal import TidelineStore
internal import TidelineSupport

/// The schemas of a command that creates its own stores in a database. They are removed when the command ends.
enum ScratchSchemas {
    /// The environment variable with the prefix of the schemas' names. A command sets it for its processes.
    private static let variable = "TIDELINE_SCRATCH_SCHEMAS"
    private static let prefix = "tideline_scratch"
    /// The databases of the command, or `nil` in a process that a command has started.
    private static let databases = Mutex<Set<String>?>(nil)

    /// Returns the name of the schema that stands for a folder.
    static func name(ofFolder folder: String) -> String {
        let prefix = ProcessInfo.processInfo.environment[variable] ?? prefix
        return PostgreSQLStore.schemaName(prefix, folder: folder)
    }

    /// Prepares a database for stores.
    /// - Throws: `ValidationError` if there is no connection, with the ways to name the database.
    static func prepare(_ connection: String) throws {
        try databases.withLock { databases in
            if ProcessInfo.processInfo.environment[variable] == nil {
                setenv(variable, "\(prefix)_\(String(UInt64.random(in: 0 ... .max), radix: 36))", 1)
                databases = []
            }
            guard databases != nil else { return }
            do {
                try remove(from: connection)
            } catch {
                throw ValidationError(
                    """
                    postgresql: \(error). Name the database by settings, such as --store \
                    postgresql,host=localhost,dbname=test,user=tester, or by PGHOST, PGDATABASE and PGUSER; the password \
                    comes from PGPASSFILE or PGPASSWORD.
                    """)
            }
            databases?.insert(connection)
        }
    }

    /// Removes the schemas of this command, and reports on standard error what cannot be removed.
    static func removeAll() {
        for database in databases.withLock({ $0 ?? [] }) {
            do {
                try remove(from: database)
            } catch {
                Output.note("schemas \(prefix)_… may be left in the database: \(error)")
            }
        }
    }

    private static func remove(from connection: String) throws {
        guard let prefix = ProcessInfo.processInfo.environment[variable] else { return }
        try PostgreSQLStore.removeSchemas(withPrefix: prefix, connection: connection)
    }
}
#endif
