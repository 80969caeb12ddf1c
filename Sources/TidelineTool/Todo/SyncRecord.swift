#if Serve
internal import TidelineStore

/// The time and result of the last sync, in a table that is not synced.
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
