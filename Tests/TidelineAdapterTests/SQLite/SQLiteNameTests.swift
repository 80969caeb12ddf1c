import Testing
import TidelineSQLite
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

/// Tests that definitions that SQLite cannot represent are refused.
@Suite struct SQLiteNameTests {
    @Test func tablesThatDifferInCaseAreBothNamed() throws {
        let store = try SQLiteStore.inMemory()
        try store.define([TableSchema("Item", columns: [])])
        let error = expectError(.schemaMismatch) { try store.define([TableSchema("iTEM", columns: [])]) }
        #expect(error?.message.contains("\"Item\"") == true && error?.message.contains("\"iTEM\"") == true)
    }

    @Test(arguments: EarlierNames.definitions)
    func aStoredNameThatIsNotInNormalizationFormCIsRefused(_ definitions: [TableSchema]) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store.sqlite"
        let store = try SQLiteStore(path: path, options: SQLiteOptions(checksums: false))
        try EarlierNames.fill(store, definitions)
        try store.close()
        try renameAsEarlierVersionsDid(in: path, definitions[0])
        for isReadOnly in [false, true] {
            EarlierNames.expectRefusal(definitions) {
                _ = try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: isReadOnly))
            }
        }
        try SQLiteStore.destroy(path: path)
    }

    /// Gives a table or column the name under which an earlier version stored it.
    private func renameAsEarlierVersionsDid(in path: String, _ schema: TableSchema) throws {
        let (name, stored) = (EarlierNames.name, EarlierNames.stored)
        let object = schema.name == name ? "TO \"\(stored)\"" : "RENAME COLUMN \"\(name)\" TO \"\(stored)\""
        let verb = schema.name == name ? "RENAME " : ""
        let changes = ["name", "definition"].map { "\($0) = replace(\($0), '\(name)', '\(stored)')" }
        try sql(path, "ALTER TABLE \"\(schema.name)\" \(verb)\(object)")
        try sql(path, "UPDATE tideline_tables SET \(changes.joined(separator: ", "))")
    }

    @Test(arguments: [
        ("CREATE TABLE Other (a)", "other"), ("CREATE VIEW other AS SELECT 1", "other"),
        ("CREATE INDEX other ON t (a)", "other"), ("ALTER TABLE t ADD COLUMN B", "t"),
    ])
    func aNameThatAnotherProgramUsesInTheFileIsRefused(_ statement: String, _ table: String) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store.sqlite"
        let store = try SQLiteStore(path: path, options: SQLiteOptions(checksums: false))
        let before = TableSchema("t", columns: [.int("a")])
        try store.define([before])
        try sql(path, statement)
        let error = expectError(.schemaMismatch) {
            try store.define([
                TableSchema("other", columns: []), TableSchema("t", columns: [.int("a"), .int("b")]),
            ])
        }
        #expect(error?.table == table)
        #expect(error?.message.contains("another program") == true, "\(error?.message ?? "")")
        #expect(try store.tables() == [before])
        try store.define([TableSchema("free", columns: [])])
        try store.close()
    }

    /// Columns that are no longer defined stay stored, and count.
    @Test func moreColumnsThanSQLiteTakesAreRefused() throws {
        let store = try SQLiteStore.inMemory()
        func wide(_ prefix: String, _ count: Int) -> TableSchema {
            TableSchema("t", columns: (0..<count).map { .int("\(prefix)\($0)") }, systemColumns: [])
        }
        try store.define([wide("a", 1000)])
        let error = expectError(.schemaMismatch) { try store.define([wide("b", 1000)]) }
        #expect(error?.table == "t")
        #expect(try store.tables() == [wide("a", 1000)])
        try store.define([wide("b", 999)])
        try store.write { try $0.upsert(["id": "1", "b998": 1], into: "t") }
        #expect(try store.read { try $0.row(in: "t", id: "1")?["b998"] } == 1)
    }
}
