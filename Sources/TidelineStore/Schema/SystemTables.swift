/// The names and definitions of the tables in which the sync core keeps its own state.
///
/// They are ordinary tables of the store: queries can read them, but they are hidden from the app's list of tables.
/// Names and columns of the first three are those of the original SDK's `MSSyncContextDataSource`, followed by
/// additional columns.
public struct SystemTables: Sendable, Hashable, Codable {
    /// The name of the operation queue's table.
    public var operations: String
    /// The name of the table of push errors.
    public var errors: String
    /// The name of the table of incremental pull tokens and other settings.
    public var config: String
    /// The name of the table of decisions about conflicts.
    public var decisions: String

    /// Creates the names. The defaults are the original SDK's; pass others if those are already in use.
    public init(
        operations: String = "MS_TableOperations", errors: String = "MS_TableOperationErrors",
        config: String = "MS_TableConfig", decisions: String = "MS_TableDecisions"
    ) {
        self.operations = operations
        self.errors = errors
        self.config = config
        self.decisions = decisions
    }

    /// The value of `keyType` in the settings' table for the tokens of incremental pulls.
    package static let tokenKeyType: Int64 = 1

    /// The definitions of all four tables, for ``LocalStore/define(_:)``.
    package var schemas: [TableSchema] { [operationsSchema, errorsSchema, configSchema, decisionsSchema] }

    /// The definition of the operation queue's table.
    ///
    /// The original's columns: `id` is the operation's number. `table` and `itemId` identify the row. `tableKind` is 0
    /// for an insert, 1 for an update, and 2 for a delete. `properties` is the content of a deleted row.
    ///
    /// The additional columns:
    /// - `itemKey`: the identifier in the form in which the table compares it, used to find an operation.
    /// - `baseVersion`: the version that the change is based on.
    /// - `base`: the row of that version, stored with the row's oldest operation.
    /// - `localBase`: the base row as a step of a migration changed it, or null if none did.
    /// - `pulled`: the row as received by a later pull.
    /// - `attempts`: the number of attempts, incremented before the request is sent.
    /// - `sent`: the request bodies whose outcome is unknown.
    /// - `restores`: whether an update restores a deleted row.
    /// - `revision`: a number that increases with every change of the operation.
    /// - `lastError`: the text of the last error.
    package var operationsSchema: TableSchema {
        TableSchema(
            operations,
            columns: [
                .string("table", optional: false), .string("itemId", optional: false),
                .string("itemKey", optional: false), .int("tableKind", optional: false), .json("properties"),
                .string("baseVersion"), .json("base"), .json("pulled"), .int("attempts"), .json("sent"),
                .bool("restores"), .int("revision"), .string("lastError"), .json("localBase"),
            ], systemColumns: [], idType: .int, indexes: [["table", "itemKey"]], isSystem: true)
    }

    /// The definition of the push errors' table.
    ///
    /// `operationId` is the number of the failed operation; `properties` is the error as JSON.
    package var errorsSchema: TableSchema {
        TableSchema(
            errors, columns: [.int("operationId"), .int("tableKind"), .string("table"), .json("properties")],
            systemColumns: [], indexes: [["operationId"], ["table"]], isSystem: true)
    }

    /// The definition of the table of decisions about conflicts.
    ///
    /// `id` is the decision's number. `table` and `itemId` identify the row; `base`, `local`, `server`, and `result`
    /// are the rows, null for a row that was deleted or is not known; `rule` names the policy.
    package var decisionsSchema: TableSchema {
        TableSchema(
            decisions,
            columns: [
                .string("table", optional: false), .string("itemId", optional: false),
                .timestamp("time", optional: false), .string("rule", optional: false), .json("base"), .json("local"),
                .json("server"), .json("result"),
            ], systemColumns: [], idType: .int, indexes: [["table"]], isSystem: true)
    }

    /// The definition of the settings' table.
    ///
    /// `table`, `key`, and `keyType` identify a setting; `value` is its text.
    package var configSchema: TableSchema {
        TableSchema(
            config, columns: [.string("table"), .string("key"), .int("keyType"), .string("value")],
            systemColumns: [], idMatching: .exact, indexes: [["table", "key", "keyType"]], isSystem: true)
    }

    /// Whether a table has the columns of a client's settings table, under any name.
    package static func isSettings(_ table: TableSchema) -> Bool {
        let columns = SystemTables().configSchema.columns
        return table.isSystem && columns.allSatisfy { column in table.columns.contains { $0.isStoredAs(column) } }
    }
}

extension StoreReader {
    /// Returns the definition of a table, or `nil` if the table is not defined.
    package func schemaIfDefined(of table: String) throws -> TableSchema? {
        do {
            return try schema(of: table)
        } catch let error as StoreError where error.code == .noSuchTable {
            return nil
        }
    }
}
