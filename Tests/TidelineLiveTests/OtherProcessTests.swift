import Testing
import TidelineLMDB
import TidelineLive
import TidelineSQLite
import TidelineStore
import TidelineTestStores
import TidelineTestSupport

private let items = TableSchema("Item", columns: [.int("number")], systemColumns: [])
private let byNumber = TableQuery("Item").order(by: "number")

private func item(_ id: String, _ number: Int) -> Row { ["id": .string(id), "number": .int(Int64(number))] }

/// The store of this process and a second process over the same files.
private struct TwoProcesses {
    let store: ObservedStore<TestStore>
    let other: EditingProcess
    let files: StoreFiles

    init(_ kind: StoreKind) throws {
        files = try StoreFiles(kind)
        store = ObservedStore(try files.open())
        try store.define([items])
        other = try EditingProcess(kind, files.path)
    }
}

@Suite("Live queries and other processes")
struct OtherProcessTests {
    @Test("Inserts, updates, and deletes of another process are updates", arguments: StoreKind.sharing)
    func edits(_ kind: StoreKind) async throws {
        let world = try TwoProcesses(kind)
        try world.store.write { try $0.upsert(item("7", 7), into: "Item") }
        var updates = try await world.store.follow(byNumber)
        var large = try await world.store.follow(byNumber.filter(.column("number") > 100))
        var count = world.store.observeCount(TableQuery("Item")).makeAsyncIterator()
        #expect(try await count.next() == 1)
        try world.other.edit("upsert 1 1")
        var update = try #require(try await updates.next())
        #expect(Array(update.rows) == [item("1", 1), item("7", 7)])
        #expect(update.changes == LiveChanges(inserted: [0]))
        #expect(try await count.next() == 2)
        try world.other.edit("upsert 1 9")
        update = try #require(try await updates.next())
        #expect(update.changes.moved.count == 1 && update.rows.last == item("1", 9))
        let commit = update.commit
        try world.other.edit("delete 7")
        update = try #require(try await updates.next())
        #expect(update.changes == LiveChanges(removed: [0]) && update.commit > commit)
        #expect(try await count.next() == 1)
        // A query whose result did not change has no update.
        #expect(try large.takeUpdate() == nil)
    }

    @Test("A transaction of a process that is killed is not seen, those before it are", arguments: StoreKind.sharing)
    func killed(_ kind: StoreKind) async throws {
        let world = try TwoProcesses(kind)
        var updates = try await world.store.follow(byNumber)
        try world.other.edit("upsert 1 1")
        try world.other.start("hold 2")
        try world.other.expect("holding")
        world.other.kill()
        #expect(try await updates.next()?.rows.map(\.idText) == ["1"])
        try world.store.write { try $0.upsert(item("3", 3), into: "Item") }
        #expect(try await updates.next()?.rows.map(\.idText) == ["1", "3"])
        #expect(try updates.takeUpdate() == nil)
    }

    @Test("Edits of both processes lead to the results of new queries", arguments: StoreKind.sharing)
    func race(_ kind: StoreKind) async throws {
        let world = try TwoProcesses(kind)
        let (store, other) = (world.store, world.other)
        var live = try LiveResults(of: store)
        try other.start("random 300")
        for _ in 0..<300 {
            try store.write { writer in
                for _ in 0..<Int.random(in: 1...3) {
                    try writer.upsert(item("\(Int.random(in: 0..<30))", .random(in: 0..<10)), into: "Item")
                }
                _ = try writer.delete(id: "\(Int.random(in: 0..<30))", from: "Item")
            }
            try live.applyUpdates()
        }
        try other.expect("done")
        let fresh = try LiveResults.fresh(in: store)
        try await suspendUntil("the results of new queries") {
            try live.applyUpdates()
            return live.rows == fresh
        }
        // An own commit that follows is again relative to the right rows.
        try store.write { try $0.upsert(item("30", 4), into: "Item") }
        try live.applyUpdates()
        #expect(live.rows == (try LiveResults.fresh(in: store)))
    }

    /// Live queries, and the rows to which their updates lead.
    private struct LiveResults {
        private static let queries = [
            byNumber, byNumber.skip(2).limit(3).includingTotalCount(),
            TableQuery("Item").filter(.column("number") == 4),
            byNumber.filter(.column("number") > 6).limit(2), TableQuery("Item").filter(.column("number") > 3),
        ]
        private(set) var rows = Self.queries.map { _ in [Row]() }
        private var updates: [LiveQuery<Row>.Iterator] = []

        init(of store: ObservedStore<TestStore>) throws {
            for query in Self.queries {
                updates.append(store.observe(query).makeAsyncIterator())
                try updates[updates.count - 1].start(in: store)
            }
        }

        mutating func applyUpdates() throws {
            for index in updates.indices {
                while let update = try updates[index].takeUpdate() {
                    update.apply(to: &rows[index])
                    #expect(rows[index] == Array(update.rows))
                }
            }
        }

        /// Returns the results of new queries.
        static func fresh(in store: ObservedStore<TestStore>) throws -> [[Row]] {
            try store.read { reader in try queries.map { try reader.rows(matching: $0).rows } }
        }
    }

    @Test("A consumer that writes in its loop sees its own edits and those of others", arguments: StoreKind.sharing)
    func writesInLoop(_ kind: StoreKind) async throws {
        let world = try TwoProcesses(kind)
        for try await update in world.store.observe(TableQuery("Item")) {
            let count = update.rows.count
            guard count < 20 else { break }
            if count % 2 == 0 {
                try world.store.write { try $0.upsert(item("\(count)", count), into: "Item") }
            } else {
                try world.other.edit("upsert \(count) \(count)")
            }
        }
        #expect(!world.store.looksForExternalCommits)
    }

    @Test("Two observed stores over the same files see each other's commits", arguments: StoreKind.sharing)
    func sameProcess(_ kind: StoreKind) async throws {
        let files = try StoreFiles(kind)
        let stores = try (0..<2).map { _ in ObservedStore(try files.open()) }
        try stores[0].define([items])
        var counts = stores.map { $0.observeCount(TableQuery("Item")).makeAsyncIterator() }
        for index in 0..<2 { #expect(try await counts[index].next() == 0) }
        for number in 1...6 {
            try stores[number % 2].write { try $0.upsert(item("\(number)", number), into: "Item") }
            for index in 0..<2 { #expect(try await counts[index].next() == number) }
        }
    }

    @Test("A column that another process defines is in the rows of live queries", arguments: StoreKind.sharing)
    func definition(_ kind: StoreKind) async throws {
        let files = try StoreFiles(kind)
        let (store, other) = (ObservedStore(try files.open()), try files.open())
        try store.define([items])
        try store.write { try $0.upsert(item("a", 1), into: "Item") }
        var updates = try await store.follow(byNumber)
        try other.define([TableSchema("Item", columns: [.int("number"), .int("more")], systemColumns: [])])
        try other.write { try $0.upsert(["id": "a", "more": 2], into: "Item") }
        var row: Row?
        while row?["more"] != 2 { row = try await updates.next()?.rows.first }
    }

    @Test("A store that is opened for reading only sees the commits of another process")
    func readOnly() async throws {
        for kind in StoreKind.sharing {
            let files = try StoreFiles(kind)
            let maker = try files.open()
            try maker.define([items])
            try maker.close()
            let other = try EditingProcess(kind, files.path)
            try other.edit("upsert 1 1")
            let path = kind.path(in: files.path)
            let base: any LocalStore =
                kind.engine == "lmdb"
                ? try LMDBStore(path: path, options: LMDBOptions(isReadOnly: true))
                : try SQLiteStore(path: path, options: SQLiteOptions(isReadOnly: true))
            let store = ObservedStore(AnyStore(base))
            var updates = store.observe(byNumber).makeAsyncIterator()
            #expect(try await updates.next()?.rows.count == 1)
            try other.edit("upsert 2 2")
            #expect(try await updates.next()?.rows.count == 2)
            var count = store.observeCount(TableQuery("Item")).makeAsyncIterator()
            #expect(try await count.next() == 2)
            try other.edit("delete 1")
            #expect(try await updates.next()?.rows.count == 1)
            #expect(try await count.next() == 1)
            try store.close()
        }
    }

    @Test("10,000 live queries that are opened and closed leave no timer and no store", arguments: StoreKind.sharing)
    func manyQueries(_ kind: StoreKind) throws {
        let files = try StoreFiles(kind)
        weak var base: TestStore?
        do {
            let store = ObservedStore(try files.open())
            base = store.base
            try store.define([items])
            #expect(!store.looksForExternalCommits)
            var open: [LiveQuery<Row>.Iterator] = []
            for number in 0..<10_000 {
                let query = TableQuery("Item").filter(.column("number") == .literal(.int(Int64(number))))
                var updates = store.observe(query).makeAsyncIterator()
                try updates.start(in: store)
                if number % 2 == 0 { open.append(updates) } else if number < 5_000 { open = [] }
            }
            #expect(store.looksForExternalCommits && store.liveQueryCount == open.count)
            open = []
            #expect(!store.looksForExternalCommits && store.liveQueryCount == 0)
        }
        // A look that is in progress may keep the store for a moment.
        try waitUntil("the store to be released") { base == nil }
    }

    @Test("A store that is not shared has no timer")
    func notShared() throws {
        let store = ObservedStore(try StoreKind.simplest.makeStore())
        try store.define([items])
        var updates = store.observe(TableQuery("Item")).makeAsyncIterator()
        try updates.start(in: store)
        #expect(!store.looksForExternalCommits)
    }
}
