internal import TidelineStore

/// The app's changes of several tables within one write transaction of the store.
///
/// It is generic over the writer, whose type would otherwise be looked up for each change.
final class ChangeScope<Store: LocalStore, Writer: StoreWriter>: TransactionScope {
    private let context: SyncContext<Store>
    private let writer: Writer
    /// The changes of each table used so far, by its name.
    private var tables: [String: LocalChanges] = [:]
    /// The changes of the table used last, which most changes are of.
    private var last: LocalChanges?

    init(_ context: SyncContext<Store>, _ writer: Writer) {
        self.context = context
        self.writer = writer
    }

    var options: SyncOptions { context.options }

    private func changes(of table: String) throws -> LocalChanges {
        if let last, last.schema.name == table { return last }
        let changes = try tables[table] ?? context.editor.changes(of: table, in: writer)
        tables[table] = changes
        last = changes
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
        let pending = try context.queue.operations.operations(of: table, in: writer)
        try context.queue.requireNotInFlight(pending, table: table, in: writer)
        return try LocalRewrite(operations: context.queue.operations, schema: schema).perform(
            on: pending, in: writer, change)
    }

    func beginMigration(_ name: String) throws -> Bool {
        try ConfigTable(options.systemTables).record(migration: name, in: writer)
    }

    func row(id: String, in table: String) throws -> Row? { try writer.checkedRow(id: id, in: table) }
    func reading<T>(_ body: (any StoreReader) throws -> T) throws -> T { try body(writer) }
}
