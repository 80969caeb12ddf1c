internal import TidelineLive
internal import TidelineStore

extension Check {
    /// The requirements of live queries on a store.
    static let observation: [Check] = [
        observedChanges, observedResults, observedCommits, externalCommits,
    ].flatMap { $0 }

    private static let byNumber = TableQuery("Note").order(by: "number")

    private static func note(_ id: String, _ number: Int, _ text: String = "x") -> Row {
        ["id": .string(id), "number": .int(Int64(number)), "text": .string(text)]
    }

    /// Rows before and after a change.
    private static let observedChanges: [Check] = [
        Check(
            "OBS-001", "In a write, a lookup returns a row before the write's own change, and then after it",
            why: "The change of a live query is the difference of both."
        ) { context in
            let store = try context.observedStore(.notes)
            try store.put([note("a", 1), note("b", 2), note("c", 3)], into: "Note")
            var all = try ObservedQuery(byNumber, in: store)
            try store.write { writer in
                try writer.upsert([["id": "a", "text": "merged"], note("d", 4)], into: "Note")
                try writer.upsert(["id": "b", "number": 9], into: "Note")
                try writer.delete(ids: ["c", "nothing"], from: "Note")
            }
            let changes = try all.update()
            try context.expect(
                changes, is: LiveChanges(removed: [2], inserted: [1], updated: [0, 2]),
                "the changes by an insert, two merges, and a delete")
            try all.expectCurrent(in: store, context, "after the write")
        },
        Check(
            "OBS-002", "A row that one write changes several times has its state before the write and at its end",
            why: "A row that was deleted and inserted again is an update."
        ) { context in
            let store = try context.observedStore(.notes)
            try store.put([note("a", 1), note("b", 2)], into: "Note")
            var all = try ObservedQuery(byNumber, in: store)
            try store.write { writer in
                try writer.delete(ids: ["a", "b"], from: "Note")
                try writer.upsert([note("a", 1, "again"), note("c", 5), note("a", 1, "twice")], into: "Note")
                try writer.delete(ids: ["c"], from: "Note")
            }
            let changes = try all.update()
            try context.expect(
                changes, is: LiveChanges(removed: [1], updated: [0]), "the changes of two rows that were rewritten")
            try all.expectCurrent(in: store, context, "after the rows were rewritten, with all changes filled in")
        },
        Check("OBS-003", "A row that is changed under an id in another case is the same row") { context in
            let store = try context.observedStore(.notes)
            try store.put([note("a", 1), note("B", 2)], into: "Note")
            var all = try ObservedQuery(byNumber, in: store)
            try store.write { writer in
                try writer.upsert(note("A", 3), into: "Note")
                try writer.delete(ids: ["b"], from: "Note")
            }
            try all.expectCurrent(in: store, context, "after a change under an id in another case")
        },
        Check(
            "OBS-004", "A deletion by query deletes the rows that the query finds in the same write",
            why: "The deleted rows are read with the query before they are deleted."
        ) { context in
            let store = try context.observedStore(.notes)
            try store.put((0..<20).map { note("n\($0)", $0 % 7) }, into: "Note")
            var all = try ObservedQuery(byNumber, in: store)
            let window = TableQuery("Note").filter(.column("number") > 1).order(by: "number", descending: true)
            for query in [window.skip(2).limit(3), window.limit(1), TableQuery("Note").filter(.column("number") == 4)] {
                try store.delete(matching: query)
                try all.expectCurrent(in: store, context, "after a deletion by query with a limit")
            }
        },
        Check("OBS-005", "A write that throws changes no live query, and neither does the next one by its changes") {
            context in
            let store = try context.observedStore(.notes)
            try store.put([note("a", 1), note("b", 2)], into: "Note")
            var all = try ObservedQuery(byNumber.limit(2), in: store)
            try store.rollBack { try $0.upsert([note("0", 0), note("a", 7)], into: "Note") }
            let changes = try all.update()
            try context.expect(changes, is: nil, "the changes after a write that throws")
            try all.expectCurrent(in: store, context, "after a body that throws")
            try store.put(note("c", 0), into: "Note")
            try all.expectCurrent(in: store, context, "after the next write")
        },
    ]

    /// Results that are read within a write.
    private static let observedResults: [Check] = [
        Check(
            "OBS-006", "In a write, a query with a limit returns the rows with the write's own changes",
            why: "A live query with a limit that has lost rows reads its first rows again before the commit."
        ) { context in
            let store = try context.observedStore(.notes)
            try store.put((0..<100).map { note("n\($0)", $0) }, into: "Note")
            var first = try ObservedQuery(byNumber.skip(1).limit(3), in: store)
            for round in 0..<4 {
                try store.write { writer in
                    try writer.delete(matching: byNumber.limit(20))
                    try writer.upsert(note("new\(round)", 0), into: "Note")
                }
                try first.expectCurrent(in: store, context, "after a write that replaced the first rows by its own")
            }
        },
        Check(
            "OBS-007", "After a write of more rows than are recorded, live queries have the write's own changes",
            why: "After a large write, the queries are read again before the commit."
        ) { context in
            let store = try context.observedStore(.notes, maximumRecordedRows: 5)
            var all = try ObservedQuery(byNumber, in: store)
            try store.put((0..<20).map { note("n\($0)", $0) }, into: "Note")
            try all.expectCurrent(in: store, context, "after a write of its own 20 rows")
            try store.write { writer in
                try writer.upsert((0..<10).map { note("n\($0)", -$0) }, into: "Note")
                try writer.delete(matching: TableQuery("Note").filter(.column("number") > 15))
            }
            try all.expectCurrent(in: store, context, "after its own changes of all rows")
        },
        Check("OBS-008", "Live queries have the new columns of a table as soon as it is defined, null in each row") {
            context in
            let store = try context.observedStore(.notes)
            try store.put([note("a", 1), note("b", 2)], into: "Note")
            try store.put([["id": "a", "version": "2"], ["id": "b", "version": "1"]], into: "Note")
            var all = try ObservedQuery(byNumber, in: store)
            var byVersion = try ObservedQuery(TableQuery("Note").order(by: "version"), in: store)
            var wider = TableSchema.notes
            wider.columns.append(.int("more"))
            try store.define([wider])
            try all.expectCurrent(in: store, context, "after the definition")
            let values = all.rows.map { $0["more"] ?? .bool(false) }
            try context.expect(values, is: [.null, .null], "the new column of the live query's rows, which is null")
            var selected = try ObservedQuery(byNumber.select("more"), in: store)
            try store.put(["id": "a", "more": 1, "version": "3"], into: "Note")
            try all.expectCurrent(in: store, context, "after a change of the new column")
            try selected.expectCurrent(in: store, context, "after a change of the column that it selects")
            try byVersion.expectCurrent(in: store, context, "after a change of the column that orders it")
        },
        Check(
            "OBS-009", "After random writes, the rows of random live queries are those of new queries, by any index",
            why: "A live query is never read again, so that a difference remains.", tier: .stress
        ) { context in
            for number in 0..<UInt64(3 * context.rounds) {
                let part = context.part(in: try context.folder("random\(number)"))
                defer { part.end() }
                try expectRandomQueries(part, seed: context.seed &* 1_000 &+ number)
            }
        },
    ]

    private static func expectRandomQueries(_ context: CheckContext, seed: UInt64) throws {
        let capabilities = context.capabilities
        var source = RandomRows(
            seed: seed,
            values: RandomValues(
                includesNaN: capabilities.storesNaN, includesInfinity: capabilities.storesInfinity,
                includesLongTexts: capabilities.maximumIDLength >= 255))
        let schema = source.indexedSchema()
        let rows = source.rows(60, of: schema)
        var queries = RandomQuery(seed: seed, schema: schema, rows: rows, values: source.values)
        let store = try context.observedStore(schema)
        try store.put(Array(rows.prefix(40)), into: schema.name)
        var live = try (0..<16).map { number in
            try ObservedQuery(number % 4 == 0 ? queries.next() : queries.nextIndexed(), in: store)
        }
        for round in 0..<12 {
            try store.write { writer in
                let changed = rows[(round * 5)..<(round * 5 + 5)]
                try writer.upsert(changed.map { $0.merging(source.change(of: $0, in: schema)) }, into: schema.name)
                try writer.delete(
                    ids: [rows[(round * 7) % 60].id ?? "", rows[(round * 11) % 60].id ?? ""], from: schema.name)
            }
            for index in live.indices where (index + round) % 3 == 0 {
                try live[index].expectCurrent(in: store, context, "with seed \(seed)")
            }
        }
        for index in live.indices { try live[index].expectCurrent(in: store, context, "with seed \(seed)") }
    }

    /// The order of commits.
    static let observedCommits: [Check] = [
        Check(
            "OBS-010", "A second writer waits until the first has committed, so that live queries see both in order",
            why: "Each commit's changes are relative to the commit before it.", tier: .stress
        ) { context in
            let store = try context.observedStore(.notes)
            var all = try ObservedQuery(TableQuery("Note"), in: store)
            let (starts, arrivals) = ([Signal(), Signal()], [Signal(), Signal()])
            try context.onThreads(2, "two writers at once") { thread in
                starts[thread].send()
                try starts[1 - thread].wait(context, "two threads do not start")
                try store.write { writer in
                    arrivals[thread].send()
                    // In a correct store, the other writer is not in its body.
                    _ = arrivals[1 - thread].comesTooEarly(after: starts[1 - thread], context)
                    try writer.upsert(["id": .string("\(thread)")], into: "Note")
                }
            }
            try all.expectCurrent(in: store, context, "after two writers at once, of which the second waits")
            try context.expect(all.commit, is: 2, "the number of commits")
        },
        Check(
            "OBS-011", "While writers on several threads commit, each live query receives the commits in order",
            tier: .stress
        ) { context in
            let store = try context.observedStore(.items, .notes)
            var queries = try [
                TableQuery("Note"), TableQuery("Note").order(by: "number").limit(5), TableQuery("TodoItem"),
            ]
            .map { try ObservedQuery($0, in: store) }
            let steps = 25 * context.rounds
            try context.onThreads(4, "four writers") { thread in
                for step in 0..<steps {
                    try store.write { writer in
                        let id = RowID.string("\((step * 7 + thread) % 20)")
                        try writer.upsert(Row(id: id, distinctColumns: [("number", .int(Int64(step)))]), into: "Note")
                        try writer.upsert(Row(id: id), into: "TodoItem")
                        try writer.delete(ids: [.string("\(step % 20)")], from: thread % 2 == 0 ? "Note" : "TodoItem")
                    }
                }
            }
            for index in queries.indices {
                try queries[index].expectCurrent(in: store, context, "after the own commits of four writers")
            }
        },
    ]
}

/// A live query of a store under check, with the rows that its consumer obtained by applying the changes.
struct ObservedQuery {
    let query: TableQuery
    private var updates: LiveQuery<Row>.Iterator
    private(set) var rows: [Row] = []
    /// The number of the commit of the last update.
    private(set) var commit = 0

    init(_ query: TableQuery, in store: ObservedStore<TracedStore>) throws {
        self.query = query
        updates = store.observe(query).makeAsyncIterator()
        try updates.start(in: store)
        _ = try update()
    }

    /// Applies the next update and returns its changes, or `nil` if there is none.
    mutating func update() throws -> LiveChanges? {
        guard let update = try updates.takeUpdate() else { return nil }
        update.apply(to: &rows)
        commit = update.commit
        return update.changes
    }

    /// Fails unless the live query has the rows that the query returns now.
    mutating func expectCurrent(
        in store: ObservedStore<TracedStore>, _ context: CheckContext, _ what: @autoclosure () -> String
    ) throws {
        _ = try update()
        let found = try store.read { try $0.rows(matching: query).rows }
        try context.expect(
            rows, are: found, "the rows of the live query \(CheckContext.text(query)), compared with a read, \(what())")
    }
}

extension CheckContext {
    /// Returns an empty store under observation in which the given tables are defined.
    func observedStore(_ tables: TableSchema..., in name: String = "store", maximumRecordedRows: Int = 1_000) throws
        -> ObservedStore<TracedStore>
    {
        let store = ObservedStore(try open(name), maximumRecordedRows: maximumRecordedRows)
        try store.define(tables)
        return store
    }
}
