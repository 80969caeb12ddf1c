internal import TidelineStore

/// The tables that the store keeps for itself in its schema, and the statements that read and write them.
///
/// | table | content |
/// |---|---|
/// | `tideline_store` | one row: the format version, the generation of the definitions, and the number of commits |
/// | `tideline_tables` | the definition of each table, as JSON |
///
/// Each write changes the row of `tideline_store` first, so that the writers of all processes wait for each other.
struct StoreFormat: Sendable {
    /// The format version that this adapter writes, and the newest that it supports.
    static let version: Int64 = 1

    /// The schema's name, quoted.
    let schema: String
    let selectStore: String
    let lockStore: String
    let selectDefinitions: String
    let saveDefinition: String
    let advanceGeneration: String

    /// - Throws: ``StoreError/Code/io`` if the name cannot be that of a schema.
    init(checking name: String) throws(StoreError) {
        guard !name.isEmpty, name.utf8.count <= String.maximumNameLength, !name.hasPrefix("pg_"),
            !name.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else {
            throw StoreError(
                .io,
                "\(name.debugDescription) cannot be the name of a schema; it must have 1 to 63 bytes, no control "
                    + "characters, and not begin with pg_")
        }
        schema = name.sqlName
        let store = "\(schema).\"tideline_store\""
        let tables = "\(schema).\"tideline_tables\""
        let columns = #""format", "generation", "commits""#
        selectStore = "SELECT \(columns) FROM \(store) WHERE \"id\" = 1"
        lockStore = "UPDATE \(store) SET \"commits\" = \"commits\" + 1 WHERE \"id\" = 1 RETURNING \(columns)"
        selectDefinitions = "SELECT \"name\", \"definition\" FROM \(tables)"
        saveDefinition =
            "INSERT INTO \(tables) (\"name\", \"definition\") VALUES ($1, $2) "
            + "ON CONFLICT (\"name\") DO UPDATE SET \"definition\" = excluded.\"definition\""
        advanceGeneration = "UPDATE \(store) SET \"generation\" = \"generation\" + 1 WHERE \"id\" = 1"
    }

    /// Finds out whether the schema exists.
    static let selectSchema = #"SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1"#

    var createSchema: String { "CREATE SCHEMA IF NOT EXISTS \(schema)" }

    /// The statements that make an existing schema a store.
    var creation: [String] {
        [
            "CREATE TABLE IF NOT EXISTS \(schema).\"tideline_store\" (\"id\" bigint PRIMARY KEY, "
                + "\"format\" bigint NOT NULL, \"generation\" bigint NOT NULL, \"commits\" bigint NOT NULL)",
            "CREATE TABLE IF NOT EXISTS \(schema).\"tideline_tables\" (\"name\" text COLLATE \"C\" PRIMARY KEY, "
                + "\"definition\" text NOT NULL)",
            // The first generation is random: a store that replaces a destroyed one then has another generation.
            "INSERT INTO \(schema).\"tideline_store\" (\"id\", \"format\", \"generation\", \"commits\") "
                + "VALUES (1, \(Self.version), \(Int64.random(in: 1...1 << 50)), 0) ON CONFLICT (\"id\") DO NOTHING",
        ]
    }

    /// The statements that remove the store with the given tables.
    func removal(of tables: [String]) -> [String] {
        (tables.map(\.sqlName) + ["\"tideline_tables\"", "\"tideline_store\""]).map { "DROP TABLE \(schema).\($0)" }
    }

    var dropSchema: String { "DROP SCHEMA \(schema)" }

    /// Checks the version that a store has.
    func require(_ version: Int64, path: String) throws(StoreError) {
        guard version >= 1 else {
            throw StoreError(.corrupt, "the format version \(version) is damaged; restore the database", path: path)
        }
        guard version <= Self.version else {
            throw StoreError(
                .newerFormat,
                "the store has format \(version); this program supports up to \(Self.version): update it", path: path)
        }
    }
}
