#if PostgreSQL && Tool
import Foundation
import Testing
import TidelinePostgreSQL
import TidelineStore

/// Reads every statement that the server receives while a store does all that it can, and refuses what systems
/// compatible with PostgreSQL lack: triggers, sequences, save points, temporary tables, advisory locks, notifications,
/// indexes on expressions, and functions in other languages.
@Suite(.needsPostgreSQL) struct PostgreSQLStatementTests {
    /// The beginnings of statements.
    private static let beginnings = [
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN ISOLATION LEVEL READ COMMITTED", "COMMIT",
        "ROLLBACK", "SET LOCAL lock_timeout", "SET LOCAL statement_timeout", "SET LOCAL synchronous_commit",
        "SHOW fsync", "SELECT",
        "INSERT INTO", "UPDATE", "DELETE FROM", "CREATE SCHEMA", "CREATE TABLE", "CREATE INDEX", "ALTER TABLE",
        "DROP TABLE", "DROP INDEX", "DROP SCHEMA", "DECLARE", "FETCH FORWARD", "CLOSE", "DEALLOCATE ALL",
    ]

    /// All words, apart from names in quotes.
    private static let words = Set(
        """
        BEGIN ISOLATION LEVEL REPEATABLE READ ONLY COMMITTED WRITE COMMIT ROLLBACK SET SHOW lock_timeout LOCAL statement_timeout
        synchronous_commit fsync on off SELECT FROM WHERE AND OR NOT IS NULL TRUE FALSE DISTINCT LIKE ANY ORDER BY DESC
        NULLS FIRST LAST LIMIT OFFSET INSERT INTO VALUES AS ON CONFLICT DO NOTHING UPDATE excluded RETURNING DELETE
        CREATE SCHEMA TABLE INDEX IF NOT EXISTS CONSTRAINT PRIMARY KEY COLLATE ALTER ADD COLUMN DROP DECLARE NO SCROLL
        CURSOR FOR FETCH FORWARD CLOSE DEALLOCATE ALL text bigint boolean double precision bytea count lower substr
        unnest pg_catalog pg_namespace nspname pg_stat_activity datname current_database application_name current_setting
        pid pg_backend_pid
        """.split { $0.isWhitespace }.map(String.init))

    @Test func onlyPortableStatementsAreSent() throws {
        let server = try TestServer(settings: ["fsync=off", "log_statement=all", "log_line_prefix=<%d> "])
        defer { server.end() }
        try server.query("CREATE DATABASE observed")
        try useEveryStatement(server.connection(to: "observed"))
        let statements = Set(server.log.split(separator: "\n").flatMap { Self.statements(in: $0) })
        #expect(statements.count > 60)
        for beginning in Self.beginnings where beginning != "DEALLOCATE ALL" {
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

    /// Does everything that a store can do.
    private func useEveryStatement(_ connection: String) throws {
        let store = try PostgreSQLStore(connection: connection, options: .patient())
        var table = TableSchema(
            "t",
            columns: [
                .string("s"), .int("n"), .double("d"), .bool("b"), .timestamp("at"), .bytes("x"), .json("j"),
                .int("must", optional: false),
            ], indexes: [["n", "s"], ["at"]])
        try store.define([table, TableSchema("exact", columns: [], idMatching: .exact)])
        try store.define([TableSchema("numbered", columns: [.string("s")], systemColumns: [], idType: .int)])
        table.columns.append(.string("later"))
        table.indexes = [["later", "x"]]
        try store.define([table])
        try store.write { writer throws in
            let rows = (0..<300).map { ["id": .string("\($0)"), "n": .int(Int64($0)), "must": 1] as Row }
            try writer.upsert(rows, into: "t")
            try writer.upsert(["id": "1", "s": "x", "later": "y", "x": .bytes([1])], into: "t")
            try writer.upsert(["id": "1"], into: "t")
            try writer.upsert(["id": "1"], into: "exact")
            try writer.upsert(Row(id: .int(1)), into: "numbered")
            try writer.delete(ids: ["5", "6"], from: "t")
        }
        for predicate in PostgreSQLQueryPlanTests.compiled + PostgreSQLQueryPlanTests.evaluated {
            let query = TableQuery("t", predicate: predicate).order(by: "later", descending: true).order(by: "n")
            try store.write { writer throws in
                _ = try writer.rows(matching: query.includingTotalCount())
                _ = try writer.rows(matching: query.order(by: "id", descending: true).skip(1).limit(2).select("s"))
                try writer.delete(matching: query.skip(1).limit(1))
                try writer.delete(matching: TableQuery("t", predicate: .column("n") == -1 && predicate))
            }
        }
        _ = try store.read { reader in
            try reader.limitTime?(.seconds(60))
            return try reader.row(in: "t", id: "2")
        }
        _ = try store.externalCommits?.number()
        try store.close()
        try PostgreSQLStore(connection: connection, options: PostgreSQLOptions(durability: .normal)).close()
        try PostgreSQLStore.destroy(connection: connection, options: .patient())
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
#endif
