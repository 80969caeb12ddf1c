import Foundation
import Testing
import TidelineConformance
import TidelinePostgreSQL
import TidelineStore
import TidelineTestSupport

/// Reads every statement that the server receives while the conformance suite runs, and refuses what systems compatible
/// with PostgreSQL lack: triggers, sequences, save points, temporary tables, advisory locks, notifications, indexes on
/// expressions, and functions in other languages.
@Suite(.enabled(if: TestServer.isInstalled, "PostgreSQL's server is not installed (package postgresql)"))
struct StatementTests {
    /// The beginnings of statements.
    private static let beginnings = [
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", "COMMIT",
        "ROLLBACK", "SET lock_timeout", "SET synchronous_commit", "SHOW synchronous_commit", "SHOW fsync", "SELECT",
        "INSERT INTO", "UPDATE", "DELETE FROM", "CREATE SCHEMA", "CREATE TABLE", "CREATE INDEX", "ALTER TABLE",
        "DROP TABLE", "DROP INDEX", "DROP SCHEMA", "DECLARE", "FETCH FORWARD", "CLOSE", "DEALLOCATE ALL",
    ]

    /// All words, apart from names in quotes.
    private static let words = Set(
        """
        BEGIN ISOLATION LEVEL REPEATABLE READ ONLY COMMITTED WRITE COMMIT ROLLBACK SET SHOW lock_timeout
        synchronous_commit fsync on off SELECT FROM WHERE AND OR NOT IS NULL TRUE FALSE DISTINCT LIKE ANY ORDER BY DESC
        NULLS FIRST LAST LIMIT OFFSET INSERT INTO VALUES AS ON CONFLICT DO NOTHING UPDATE excluded RETURNING DELETE
        CREATE SCHEMA TABLE INDEX IF NOT EXISTS CONSTRAINT PRIMARY KEY COLLATE ALTER ADD COLUMN DROP DECLARE NO SCROLL
        CURSOR FOR FETCH FORWARD CLOSE DEALLOCATE ALL text bigint boolean double precision bytea count lower substr
        unnest pg_catalog pg_namespace nspname
        """.split { $0.isWhitespace }.map(String.init))

    @Test func onlyPortableStatementsAreSent() async throws {
        let server = try TestServer(settings: ["fsync=off", "log_statement=all", "log_line_prefix=<%d> "])
        defer { server.end() }
        try server.query("CREATE DATABASE observed")
        let connection = server.connection(to: "observed")
        let harness = StoreHarness(
            modes: [], destroy: { try PostgreSQLStore.destroy(connection: connection, options: Self.options($0)) },
            open: { try PostgreSQLStore(connection: connection, options: Self.options($0.directory)) })
        let suite = ConformanceSuite(harness, settings: ConformanceSettings(rows: 500))
        let groups: Set<CheckGroup> = [.syncCore, .tables, .upsert, .lookup, .filters, .order, .transactions, .model]
        for check in suite.checks where groups.contains(check.group) { _ = await suite.run(check) }
        let statements = Set(server.log.split(separator: "\n").flatMap { Self.statements(in: $0) })
        #expect(statements.count > 100)
        for beginning in Self.beginnings where !["SET sync", "DEALLOCATE"].contains(where: beginning.hasPrefix) {
            #expect(statements.contains { $0.hasPrefix(beginning) }, "no statement begins with \(beginning)")
        }
        for statement in statements {
            #expect(Self.beginnings.contains { statement.hasPrefix($0) }, "\(statement)")
            let words = statement.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }
                .filter { $0.first?.isLetter == true }.map(String.init)
            #expect(Self.words.isSuperset(of: words), "\(Set(words).subtracting(Self.words)) in \(statement)")
            // An index contains columns only: a parenthesis follows nothing but the table.
            if statement.hasPrefix("CREATE INDEX") {
                #expect(statement.prefixMatch(of: /CREATE INDEX ~ ON ~\.~ \([^()]+\)$/) != nil, "\(statement)")
            }
        }
    }

    private static func options(_ directory: String) -> PostgreSQLOptions {
        PostgreSQLOptions(schema: schemaName(ofFolder: directory))
    }

    /// Returns the statements in a line of the log, with `~` for each name in quotes. Statements in one message are
    /// separated by semicolons.
    private static func statements(in line: Substring) -> [String] {
        guard line.hasPrefix("<observed> LOG:  ") else { return [] }
        let message = line.dropFirst("<observed> LOG:  ".count)
        guard message.hasPrefix("statement: ") || message.hasPrefix("execute "), let colon = message.firstIndex(of: ":")
        else { return [] }
        // Quotes within names are doubled, which leaves nothing between two names.
        let parts = message[message.index(after: colon)...].split(separator: "\"", omittingEmptySubsequences: false)
        let text = parts.indices.filter { $0.isMultiple(of: 2) }.map { String(parts[$0]) }.joined(separator: "~")
        return text.replacing(/~+/, with: "~").split(separator: ";").map { text in
            text.trimmingCharacters(in: .whitespaces)
        }
    }
}
