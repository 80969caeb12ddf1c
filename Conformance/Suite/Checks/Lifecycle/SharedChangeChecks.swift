internal import TidelineLive
internal import TidelineStore

extension Check {
    /// Every kind of change, made by one store, and every kind of reading, by another store over the same files.
    static let sharedChanges: [Check] =
        zip(SharedChange.allCases, 110...).map { change, number in
            Check(
                "LIF-\(number)",
                "\(change.words.capitalizedFirst) by another store over the same files is seen by every kind of reading"
                    + (change == .rollback ? ", as nothing" : ""),
                why: "Each kind of reading has caches of its own, all of which each kind of change must invalidate.",
                needs: [.sharedFiles]
            ) { context in
                let run = try SharedRun(context)
                let other = try context.open()
                for step in 0..<3 {
                    try run.change(change, step, "by another store") { try change.make(step, in: other) }
                }
            }
        } + [
            Check(
                "LIF-087", "A store opened for reading only sees every kind of change that others commit later",
                why: "A viewer that shows a running app's store must show its current content.",
                needs: [.sharedFiles, .openingReadOnly]
            ) { context in
                let other = try context.store(SharedContent.table, holding: SharedContent().rows)
                let run = try SharedRun(context, access: .readOnly)
                for change in SharedChange.allCases {
                    for step in 0..<3 {
                        try run.change(change, step, "by another store, read by a store opened for reading only") {
                            try change.make(step, in: other)
                        }
                    }
                }
            },
            Check(
                "LIF-088", "Every kind of change by another process is seen by every kind of reading",
                needs: [.sharedFiles, .process]
            ) { context in
                let run = try SharedRun(context)
                let changes = SharedChange.allCases.flatMap { change in (0..<3).map { (change, $0) } }
                let steps = changes.flatMap { change, step in [ChildStep.wait, .change(change, step: step)] }
                try context.child([.open(context.opening())] + steps + [.wait]) { child in
                    try child.expect(ChildLine.waiting)
                    for (change, step) in changes {
                        try run.change(change, step, "by another process") {
                            child.proceed()
                            try child.expect(ChildLine.waiting)
                        }
                    }
                }
            },
        ]
}

/// A store that reads while another one changes the same files.
private final class SharedRun {
    private let context: CheckContext
    private let store: TracedStore
    private let observed: ObservedStore<TracedStore>
    private var live: [ObservedQuery]
    private var content = SharedContent()
    private let isReadOnly: Bool

    /// Opens the stores. A store for reading only must exist; another one is created and filled.
    init(_ context: CheckContext, access: StoreOpening.Access = .readWrite) throws {
        self.context = context
        isReadOnly = access == .readOnly
        store = try context.open(access: access)
        if !isReadOnly {
            try store.define([SharedContent.table])
            try store.put(content.rows, into: SharedContent.table.name)
        }
        let observed = ObservedStore(try context.open(access: access))
        self.observed = observed
        live = try SharedContent.queries.map { try ObservedQuery($0, in: observed) }
        try expectContent("before a change")
    }

    /// Makes a change and fails unless every kind of reading sees it.
    func change(_ change: SharedChange, _ step: Int, _ maker: String, _ make: () throws -> Void) throws {
        let number = try store.externalCommits?.number()
        try make()
        content.apply(change, step)
        let place = "after \(change.words) \(maker)"
        let hasChanged = try store.externalCommits?.number() != number
        try context.expect(hasChanged, is: change != .rollback, "whether the external commit number changed \(place)")
        try expectContent(place)
    }

    private func expectContent(_ place: String) throws {
        let rows = content.schema.completing(content.rows)
        try context.expect(store.tables(), is: [content.schema], "the tables \(place)")
        try store.read { try expect(rows, in: $0, "\(place), in a read") }
        if !isReadOnly { try store.write { try expect(rows, in: $0, "\(place), in a write") } }
        for index in live.indices { try live[index].expectCurrentSoon(in: observed, context, place) }
    }

    private func expect(_ rows: [Row], in reader: any StoreReader, _ place: String) throws {
        try context.expect(reader.schema(of: content.schema.name), is: content.schema, "the definition \(place)")
        for query in SharedContent.queries {
            try context.expect(query, in: reader, over: rows, of: content.schema, place)
        }
        for id in content.ids {
            let found = try reader.row(in: content.schema.name, id: id)
            try context.expect(found, is: rows.first { $0.id == id }, "the row \(id) \(place)")
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

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
        case .merge: rows = rows.merging([SharedContent.merged(step)])
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
