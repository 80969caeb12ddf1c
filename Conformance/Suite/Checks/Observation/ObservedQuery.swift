internal import TidelineLive
internal import TidelineStore

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
