internal import TidelineStore

/// When the list was last synced, and how that ended: a table of this app alone, which no server sees.
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

    /// The last record; nil if there is none, or no table for it yet.
    func read() throws -> (at: Timestamp, result: String)? {
        guard try store.tables().contains(where: { $0.name == schema.name }),
            let row = try store.read({ try $0.row(in: schema.name, id: id) }), let at = row["at"]?.timestamp,
            let result = row["result"]?.string
        else { return nil }
        return (at, result)
    }
}
