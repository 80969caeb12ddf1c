internal import TidelineStore
internal import TidelineWire

extension SyncContext {
    /// Returns the changes of a table within a transaction, after the store's user is confirmed.
    func changes(of table: String, in writer: Writer) throws -> LocalChanges {
        try RowInput.checkName(table)
        try owners.confirmUser(in: writer)
        return LocalChanges(
            operations: operations, schema: try writer.schema(of: table),
            writesRows: options.handlesSyncTableOperations,
            rejectsInsertOverPendingDelete: options.rejectsInsertOverPendingDelete, inFlight: clients.inFlight)
    }

    /// Inserts a row within a transaction, after its identifier is found to be valid on the server.
    func insert(_ row: Row, _ changes: LocalChanges, in writer: Writer) throws -> Row {
        if case .string(let id)? = row.id, (try? ItemID.validate(id)) != nil {
            try family.validateNewID(id, of: changes.schema.name)
        }
        return try changes.insert(row, in: writer)
    }
}

/// The app's changes of several tables within one write transaction of the store.
final class ChangeScope<Store: LocalStore>: TransactionScope {
    private let context: SyncContext<Store>
    private let writer: SyncContext<Store>.Writer
    /// The changes of each table used so far, by the bytes of its name.
    private var tables: [RowID: LocalChanges] = [:]

    init(_ context: SyncContext<Store>, _ writer: SyncContext<Store>.Writer) {
        self.context = context
        self.writer = writer
    }

    var options: SyncOptions { context.options }

    private func changes(of table: String) throws -> LocalChanges {
        if let changes = tables[.string(table)] { return changes }
        let changes = try context.changes(of: table, in: writer)
        tables[.string(table)] = changes
        return changes
    }

    func insert(_ row: Row, into table: String) throws -> Row {
        try context.insert(row, changes(of: table), in: writer)
    }

    func update(_ row: Row, in table: String, overwriting: Bool) throws {
        try changes(of: table).update(row, overwriting: overwriting, in: writer)
    }

    func update(id: String, in table: String, _ change: (inout Row) throws -> Void) throws -> Result<Row, any Error> {
        try changes(of: table).update(id: id, in: writer, change)
    }

    func delete(_ row: Row, from table: String) throws { try changes(of: table).delete(row, in: writer) }

    func rewrite(_ table: String, _ change: (inout Row) throws -> Void) throws -> Int {
        try options.requireRowWriting(table: table)
        let schema = try changes(of: table).schema
        let pending = try context.operations.operations(of: table, in: writer)
        try context.requireNotInFlight(pending, table: table, in: writer)
        return try LocalRewrite(operations: context.operations, schema: schema).perform(on: pending, in: writer, change)
    }

    func beginMigration(_ name: String) throws -> Bool {
        try MigrationStore(tables: context.operations.tables).record(name, in: writer)
    }

    func row(id: String, in table: String) throws -> Row? { try writer.checkedRow(id: id, in: table) }
    func reading<T>(_ body: (any StoreReader) throws -> T) throws -> T { try body(writer) }
}
