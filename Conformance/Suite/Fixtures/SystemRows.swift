internal import TidelineStore

/// Rows of the sync core's tables in the form in which the core stores them, and the queries that it uses.
enum SystemRows {
    /// The tables with their default names.
    static let tables = SystemTables()

    /// Returns a pending operation.
    static func operation(
        _ number: Int64, _ item: String, of table: String = "TodoItem", kind: Int64 = 0, properties: String? = nil
    ) -> Row {
        [
            "id": .int(number), "table": .string(table), "itemId": .string(item),
            "itemKey": .string(item.asciiLowercased), "tableKind": .int(kind), "attempts": 0, "sent": .json("[]"),
            "restores": false, "revision": 0, "properties": properties.map { Value.json($0) } ?? .null,
        ]
    }

    /// Returns the record of a failed operation.
    static func error(_ number: Int64, _ table: String = "TodoItem") -> Row {
        [
            "id": .string(String(number)), "operationId": .int(number), "tableKind": 1, "table": .string(table),
            "properties": .json(#"{"code":"conflict","status":412}"#),
        ]
    }

    /// Returns a setting with its table, key, and type: the token of a pull or the counter of operations.
    static func setting(_ id: String, _ table: String, _ key: String, type: Int64 = 1, value: String) -> Row {
        [
            "id": .string(id), "table": .string(table), "key": .string(key), "keyType": .int(type),
            "value": .string(value),
        ]
    }

    /// Returns a query for the operations of one row, oldest first.
    static func operations(of table: String, key: String) -> TableQuery {
        TableQuery(tables.operations).filter(.column("table") == .value(table) && .column("itemKey") == .value(key))
            .order(by: "id")
    }

    /// Returns a query for the token of one query of a table, or for all tokens of the table.
    static func token(_ table: String, _ key: String? = nil, type: Int64 = 1) -> TableQuery {
        let ofTable = TableQuery(tables.config).filter(
            .column("table") == .value(table) && .column("keyType") == .value(type))
        return key.map { ofTable.filter(.column("key") == .value($0)) } ?? ofTable
    }
}

extension CheckContext {
    /// Opens a store with the tables of the sync core and those of an app.
    func syncStore(_ tables: TableSchema...) throws -> TracedStore {
        let store = try open()
        try store.define(SystemRows.tables.schemas + tables)
        return store
    }
}
