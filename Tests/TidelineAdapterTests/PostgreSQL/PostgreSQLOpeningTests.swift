#if PostgreSQL && Tool
import Foundation
import Testing
import TidelinePostgreSQL
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests databases that cannot be used, and that no message contains a password.
@Suite(.needsPostgreSQL) struct PostgreSQLOpeningTests {
    @Test func aWrongPasswordIsReportedAndNotShown() throws {
        let server = try TestServer.shared.get()
        try server.query("DROP ROLE IF EXISTS secured; CREATE ROLE secured LOGIN PASSWORD 'right'")
        let connection = try server.makeDatabase("OWNER secured").replacing("user=postgres", with: "user=secured")
        let wrong = expectError(.io) { _ = try PostgreSQLStore(connection: "\(connection) password=S3cret") }
        #expect(wrong?.description.contains("S3cret") == false)
        #expect(wrong?.message.contains("check the user name, and the password") == true)
        let missing = expectError(.io) { _ = try PostgreSQLStore(connection: connection) }
        #expect(missing?.message.contains("PGPASSFILE") == true)
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/pgpass"
        try Data("*:*:*:secured:right\n".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        try PostgreSQLStore(connection: "\(connection) passfile=\(file)").close()
    }

    @Test(arguments: [
        ("host=/nonexistent dbname=x", "check that the server runs"),
        ("host=/tmp password=my S3cret dbname=x", "write NAME=VALUE"),
        ("postgresql://user:p@S3cret@host/db", "write an @"),
        ("postgresql://user:p%zzS3cret@host/db", "write NAME=VALUE"),
    ])
    func aConnectionThatIsNotPossibleSaysWhatToDo(_ connection: String, _ advice: String) throws {
        for attempt in [
            { _ = try PostgreSQLStore(connection: connection) },
            { try PostgreSQLStore.destroy(connection: connection) },
        ] {
            let error = expectError(.io) { try attempt() }
            #expect(error?.message.contains(advice) == true)
            #expect(error?.description.contains("S3cret") == false)
        }
    }

    @Test func aMissingDatabaseIsNamed() throws {
        let connection = try TestServer.shared.get().connection(to: "missing")
        let error = expectError(.io) { _ = try PostgreSQLStore(connection: connection) }
        #expect(error?.message.contains("\"missing\" does not exist") == true)
    }

    @Test(arguments: ["", "pg_mine", "a\u{1}", String(repeating: "ä", count: 32)])
    func aNameThatNoSchemaCanHaveIsRefused(_ name: String) throws {
        let connection = try TestServer.shared.get().connection()
        expectError(.io) {
            _ = try PostgreSQLStore(connection: connection, options: PostgreSQLOptions(schema: name))
        }
    }

    @Test func aDatabaseInAnotherEncodingIsRefused() throws {
        let connection = try TestServer.shared.get().makeDatabase("ENCODING 'LATIN1' TEMPLATE template0")
        let error = expectError(.io) { _ = try PostgreSQLStore(connection: connection) }
        #expect(error?.message.contains("ENCODING 'UTF8'") == true)
    }

    @Test func aUserWithoutPermissionsIsRefused() throws {
        let server = try TestServer.shared.get()
        try server.query("DROP ROLE IF EXISTS visitor; CREATE ROLE visitor LOGIN")
        let connection = try server.makeDatabase()
        let visiting = connection.replacing("user=postgres", with: "user=visitor")
        expectError(.readOnly) { _ = try PostgreSQLStore(connection: visiting) }
        let store = try PostgreSQLStore(connection: connection, options: .patient())
        try store.define([TableSchema("t", columns: [])])
        var options = PostgreSQLOptions.patient()
        for isReadOnly in [false, true] {
            options.isReadOnly = isReadOnly
            expectError(.readOnly) { _ = try PostgreSQLStore(connection: visiting, options: options) }
        }
        try PlainConnection(connection).query(
            "GRANT USAGE ON SCHEMA tideline TO visitor; GRANT SELECT ON ALL TABLES IN SCHEMA tideline TO visitor")
        let reading = try PostgreSQLStore(connection: visiting)
        #expect(try reading.read { try $0.count(TableQuery("t")) } == 0)
        expectError(.readOnly) { try reading.write { try $0.upsert(["id": "1"], into: "t") } }
        #expect(try reading.read { try $0.count(TableQuery("t")) } == 0)
    }

    @Test func whatAnotherProgramKeepsInTheSchemaIsNotTouched() throws {
        let connection = try TestServer.shared.get().makeDatabase()
        let other = try PlainConnection(connection)
        try other.query("CREATE TABLE public.tideline_store (x int)")
        let options = PostgreSQLOptions.patient(schema: "public")
        expectError(.notAStore) { _ = try PostgreSQLStore(connection: connection, options: options) }
        expectError(.notAStore) { try PostgreSQLStore.destroy(connection: connection, options: options) }
        try other.query("DROP TABLE public.tideline_store; CREATE TABLE public.t (x int)")
        let store = try PostgreSQLStore(connection: connection, options: options)
        expectError(.schemaMismatch) {
            try store.define([TableSchema("u", columns: []), TableSchema("t", columns: [])])
        }
        #expect(try store.tables().isEmpty)
        try store.define([TableSchema("u", columns: [])])
        try other.query("ALTER TABLE public.u ADD COLUMN note text")
        let error = expectError(.schemaMismatch) {
            try store.define([TableSchema("u", columns: [.string("note")])])
        }
        #expect(error?.table == "u")
        try store.close()
        try PostgreSQLStore.destroy(connection: connection, options: options)
        #expect(try other.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'") == [["t"]])
    }

    @Test func aLaterFormatAndADamagedOneAreRefused() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(TableSchema("t", columns: []))
        let other = try PlainConnection(connection)
        for (change, code) in [
            (#"UPDATE tideline.tideline_store SET "format" = 2"#, StoreError.Code.newerFormat),
            (#"UPDATE tideline.tideline_store SET "format" = 0"#, .corrupt),
            (#"UPDATE tideline.tideline_store SET "format" = 1, "generation" = 7"#, .corrupt),
            ("DELETE FROM tideline.tideline_store", .corrupt),
        ] {
            if change.contains("generation") {
                try other.query("UPDATE tideline.tideline_tables SET definition = '{'")
            }
            try other.query(change)
            expectError(code) { _ = try PostgreSQLStore(connection: connection) }
            expectError(code) { try store.write { try $0.upsert(["id": "1"], into: "t") } }
            expectError(code) { _ = try store.read { try $0.count(TableQuery("t")) } }
        }
    }

    @Test func aStoreThatWasRemovedIsAnErrorAndANewOneIsNotMistakenForIt() throws {
        let (store, connection) = try TestServer.makeStoreInDatabase(TableSchema("t", columns: []))
        try PlainConnection(connection).query("DROP SCHEMA tideline CASCADE")
        #expect(throws: StoreError.self) { try store.write { try $0.upsert(["id": "1"], into: "t") } }
        try PostgreSQLStore.destroy(connection: connection, options: .patient())
        let new = try PostgreSQLStore(connection: connection, options: .patient())
        try new.define([TableSchema("u", columns: [])])
        #expect(try store.tables().map(\.name) == ["u"])
    }
}
#endif
