internal import TidelineStore

/// A change that one store makes while other stores have the same files open.
enum SharedChange: String, Codable, CaseIterable, Sendable {
    case upsert, merge, deletionByID, deletionByQuery, definition, rollback

    /// The change, for a promise or a message.
    var words: String {
        switch self {
        case .upsert: "an upsert"
        case .merge: "a merge"
        case .deletionByID: "a deletion by id"
        case .deletionByQuery: "a deletion by query"
        case .definition: "a definition"
        case .rollback: "a write that is rolled back"
        }
    }

    /// Makes the change; `step` is its number among those of the same kind.
    func make(_ step: Int, in store: some LocalStore) throws {
        let table = SharedContent.table.name
        switch self {
        case .upsert: try store.put(SharedContent.new(step), into: table)
        case .merge: try store.put(SharedContent.merged(step), into: table)
        case .deletionByID: try store.delete(ids: [SharedContent.deletedID(step)], from: table)
        case .deletionByQuery: try store.delete(matching: SharedContent.deletedQuery(step))
        case .definition: try store.define([SharedContent.table(after: step + 1)])
        case .rollback:
            try store.rollBack { writer in
                try writer.upsert(SharedContent.new(step), into: table)
                try writer.delete(ids: [SharedContent.deletedID(step)], from: table)
            }
        }
    }
}

/// The expected content of a table that ``SharedChange`` changes.
struct SharedContent {
    /// A number with an index, and a text.
    static let table = table(after: 0)
    private(set) var schema = table
    private(set) var rows: [Row] = (0..<20).map { number in
        ["id": .string("r\(number + 10)"), "number": .int(Int64(number % 7)), "text": .string("text \(number)")]
    }

    /// The ids of all rows that exist at some time.
    let ids: [RowID] = (0..<20).map { .string("r\($0 + 10)") } + (0..<3).map { .string("new\($0)") }

    /// The queries by which the table is read: all rows, an order and a filter by the index, and a filter without it.
    static let queries: [TableQuery] = [
        TableQuery(table.name, includesTotalCount: true), TableQuery(table.name).order(by: "number", descending: true),
        TableQuery(table.name).filter(.column("number") >= 3).order(by: "number").limit(4),
        TableQuery(table.name, predicate: .column("text") > "text 1", includesTotalCount: true),
    ]

    /// Applies a change.
    mutating func apply(_ change: SharedChange, _ step: Int) {
        switch change {
        case .upsert: rows.append(SharedContent.new(step))
        case .merge:
            let merged = SharedContent.merged(step)
            rows = rows.map { $0.id == merged.id ? $0.merging(merged) : $0 }
        case .deletionByID: rows.removeAll { $0.id == SharedContent.deletedID(step) }
        case .deletionByQuery: rows.removeAll { $0["number"] == .int(Int64(step)) }
        case .definition: schema = SharedContent.table(after: step + 1)
        case .rollback: break
        }
    }

    /// Returns the definition after some changes of it, each of which adds a column and an index.
    static func table(after steps: Int) -> TableSchema {
        let added = (0..<steps).map { "more\($0)" }
        return TableSchema(
            "Shared", columns: [.int("number"), .string("text")] + added.map { .string($0) }, systemColumns: [],
            indexes: [["number"]] + added.map { ["text", $0] })
    }

    static func new(_ step: Int) -> Row { ["id": .string("new\(step)"), "number": 3, "text": "text 9"] }
    static func merged(_ step: Int) -> Row { ["id": .string("r\(step + 12)"), "number": 6] }
    static func deletedID(_ step: Int) -> RowID { .string("r\(step + 20)") }
    static func deletedQuery(_ step: Int) -> TableQuery {
        TableQuery("Shared", predicate: .column("number") == .value(step))
    }
}
