internal import TidelineStore

/// The system table of what a client keeps about its store, besides rows and operations.
struct ConfigTable: Sendable {
    /// The meaning of a row, which is stored with it.
    enum Kind: Int64 {
        /// The progress of an incremental pull; `SystemTables.tokenKeyType`, by which a store finds tokens in its
        /// repair.
        case token = 1
        /// The upper bound of the numbers of operations.
        case counter
        /// The union of all definitions of a table.
        case definition
        /// The server and user of the store.
        case owner
        /// The references between all tables.
        case references
        /// The lease of a running push.
        case lease
        /// A step of the app's migration that was committed.
        case migration
    }

    let name: String

    init(_ tables: SystemTables) { name = tables.config }

    /// Returns the value of a row, or `nil` if there is no such row.
    func value(of id: String, in reader: some StoreReader) throws -> String? {
        try reader.withRow(in: name, id: .string(id)) { $0["value"]?.string ?? "" }
    }

    /// Stores a row.
    ///
    /// - Parameters:
    ///   - table: The name of the table that the row is about, if it is about one.
    ///   - key: The name within the kind; by default the identifier.
    func set(
        _ value: String, of id: String, _ kind: Kind, table: String = "", key: String? = nil,
        in writer: some StoreWriter
    ) throws {
        let row = Row(
            id: .string(id),
            distinctColumns: [
                ("table", .string(table)), ("key", .string(key ?? id)), ("keyType", .int(kind.rawValue)),
                ("value", .string(value)),
            ])
        try writer.upsert(row, into: name)
    }

    /// Returns a query for the rows of a kind, and of a table or key if one is given.
    func query(_ kind: Kind, table: String? = nil, key: String? = nil) -> TableQuery {
        var query = TableQuery(name).filter(.column("keyType") == .value(kind.rawValue))
        if let table { query = query.filter(.column("table") == .value(table)) }
        if let key { query = query.filter(.column("key") == .value(key)) }
        return query
    }

    /// Records a step of the app's migration. Returns `false` if it was recorded before.
    func record(migration name: String, in writer: some StoreWriter) throws -> Bool {
        let id = "migration \(name)"
        guard try value(of: id, in: writer) == nil else { return false }
        try set("", of: id, .migration, key: name, in: writer)
        return true
    }
}
