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
        try context.expect(
            hasChanged, is: change != .rollback, "whether the external commit number has changed \(place)")
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
