/// The names and definitions of the three tables in which the sync core keeps its own state.
///
/// They are ordinary tables of the store, readable by its queries, hidden from the app's list of tables. Names and
/// columns are those of the original SDK's `MSSyncContextDataSource`; further columns follow the original's.
public struct SystemTables: Sendable, Hashable, Codable {
    /// The queue of operations.
    public var operations: String
    /// The errors of pushes.
    public var errors: String
    /// The tokens of incremental pulls and other settings.
    public var config: String

    /// The tables with the original SDK's names, or names of one's own where those are taken.
    public init(
        operations: String = "MS_TableOperations", errors: String = "MS_TableOperationErrors",
        config: String = "MS_TableConfig"
    ) {
        self.operations = operations
        self.errors = errors
        self.config = config
    }

    /// The definitions of all three, for ``LocalStore/define(_:)``.
    public var schemas: [TableSchema] { [operationsSchema, errorsSchema, configSchema] }

    /// `id` is the operation's number; `table`, `itemId` the row; `tableKind` insert 0, update 1, delete 2;
    /// `properties` the content of a deleted row.
    ///
    /// Beyond the original's: `itemKey`, the id as the table compares it, by which an operation is found;
    /// `baseVersion`, the version the change was made on; `base`, the row of that version, held by the oldest operation
    /// of the row; `pulled`, the row as a pull brought it since; `attempts`, how often the operation was tried, counted
    /// before the request leaves; `sent`, the bodies whose fate is not known; `restores`, whether an update brings a
    /// deleted row back; `revision`, which grows with every change of the operation; `lastError`, a text.
    public var operationsSchema: TableSchema {
        TableSchema(
            operations,
            columns: [
                .string("table", optional: false), .string("itemId", optional: false),
                .string("itemKey", optional: false), .int("tableKind", optional: false), .json("properties"),
                .string("baseVersion"), .json("base"), .json("pulled"), .int("attempts"), .json("sent"),
                .bool("restores"), .int("revision"), .string("lastError"),
            ], systemColumns: [], idType: .int, indexes: [["table", "itemKey"]], isSystem: true)
    }

    /// `operationId` is the number of the operation that failed; `properties` the error as JSON.
    public var errorsSchema: TableSchema {
        TableSchema(
            errors, columns: [.int("operationId"), .int("tableKind"), .string("table"), .json("properties")],
            systemColumns: [], indexes: [["operationId"], ["table"]], isSystem: true)
    }

    /// `table`, `key` and `keyType` name a setting, `value` is its text.
    public var configSchema: TableSchema {
        TableSchema(
            config, columns: [.string("table"), .string("key"), .int("keyType"), .string("value")],
            systemColumns: [], idMatching: .exact, indexes: [["table", "key", "keyType"]], isSystem: true)
    }
}
