#if Serve
internal import ArgumentParser
internal import Tideline
internal import TidelineAsyncHTTPClient
internal import TidelineStore

/// A session with the to-do list in an open store.
struct TodoSession<Store: LocalStore>: Sendable {
    let client: SyncClient<Store>

    var context: SyncContext<Store> { client.context }
    var items: SyncTable { client.table(TodoItem.schema.name) }
    var record: SyncRecord<Store> { SyncRecord(store: client.store) }

    /// Whether a store with these tables has the list and all tables that a session needs.
    static func isDefined(in tables: [TableSchema]) -> Bool {
        let names = tables.map(\.name)
        let tables = SystemTables()
        // The table of decisions is newer than the others: the client adds it to an older store.
        return [TodoItem.schema.name, tables.operations, tables.errors, tables.config].allSatisfy(names.contains)
    }

    /// Opens the list in a store that already has it, without defining any table.
    init(reading store: Store) throws {
        client = try SyncClient(url: SyncCommand.defaultURL, store: store)
    }

    init(store: Store, url: String, options: SyncOptions) async throws {
        do {
            client = try SyncClient(url: url, store: store, options: options)
        } catch let error as SyncError where error.code == .invalidArgument {
            throw ValidationError("\(error.message).")
        }
        try await client.define([TodoItem.schema])
        try SyncRecord(store: store).define()
    }

    /// Returns the item whose id is `text` or begins with it.
    func item(_ text: String) async throws -> Row {
        try requireID(text)
        if let exact = try await items.row(id: text) { return exact }
        let query = TableQuery(TodoItem.schema.name)
            .filter(.column("id").lowercased.hasPrefix(.value(text.asciiLowercased))).limit(2)
        let found = try await items.rows(matching: query).rows
        guard let item = found.first else { throw ToolError("there is no item \(text.debugDescription)") }
        guard found.count == 1 else { throw Self.ambiguous(text, found.map(\.idText)) }
        return item
    }

    /// Returns the failed operation of the item whose id is `text` or begins with it. If `text` is `nil`, returns the
    /// only failed operation.
    func failure(_ text: String?) async throws -> TableOperationError {
        let failures = try await context.operationErrors()
        guard let text else {
            if let only = failures.first, failures.count == 1 { return only }
            throw ToolError(
                failures.isEmpty
                    ? "there is nothing to resolve"
                    : "\(failures.count) items need to be resolved; specify one: "
                        + failures.map { printable($0.itemID) }.joined(separator: ", "))
        }
        try requireID(text)
        // The commands that the tool prints have the id as it is printed.
        if let printed = failures.first(where: { printable($0.itemID) == text }) { return printed }
        let prefix = text.asciiLowercased
        let found = failures.filter { $0.itemID.asciiLowercased.hasPrefix(prefix) }
        if let exact = found.first(where: { $0.itemID.asciiLowercased == prefix }) { return exact }
        // A complete id, such as that of an item whose conflict is resolved, is not the beginning of another one.
        guard let failure = found.first, try await items.row(id: text) == nil else {
            throw ToolError("the item \(text.debugDescription) has nothing to resolve")
        }
        guard found.count == 1 else { throw Self.ambiguous(text, found.map(\.itemID)) }
        return failure
    }

    /// Checks that the id is not empty. Every id begins with an empty text, so a script's unset variable would select
    /// the only item.
    private func requireID(_ text: String) throws {
        guard !text.isEmpty else { throw ToolError("the id is empty; tideline todo list shows the ids") }
    }

    private static func ambiguous(_ text: String, _ ids: [String]) -> ToolError {
        let ids = ids.prefix(2).map(printable).joined(separator: " and ")
        return ToolError("more than one id begins with \(text.debugDescription), such as \(ids); enter more characters")
    }
}

/// Returns the first characters of an id, enough to distinguish items.
func shortID(_ id: String) -> String { printable(String(id.prefix(8))) }

/// The time and result of the last sync that is worth noting, in a table that is not synced.
struct SyncRecord<Store: LocalStore>: Sendable {
    let store: Store

    private let schema = TableSchema(
        "TodoSync", columns: [.timestamp("at"), .string("result")], systemColumns: [])
    private let id = "last"

    init(store: Store) { self.store = store }

    func define() throws { try store.define([schema]) }

    func write(_ result: String, at time: Timestamp = .now) throws {
        try store.write {
            try $0.upsert(["id": .string(id), "at": .timestamp(time), "result": .string(result)], into: schema.name)
        }
    }

    /// Returns the last record, or `nil` if there is no record or no table for it.
    func read() throws -> (at: Timestamp, result: String)? {
        guard try store.tables().contains(where: { $0.name == schema.name }),
            let row = try store.read({ try $0.row(in: schema.name, id: id) }), let at = row["at"]?.timestamp,
            let result = row["result"]?.string
        else { return nil }
        return (at, result)
    }
}
#endif
