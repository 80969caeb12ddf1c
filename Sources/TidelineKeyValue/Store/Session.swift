internal import TidelineStore

/// One read or write body's access to the store; over when the body is.
///
/// What changes is unchecked for exclusive access where every write changes it: nothing that is called meanwhile comes back.
final class Session {
    /// What the session is on, as long as it may be used: the keys to read and, in a write, to change.
    private let openKeys: any KeySource
    private let openStore: (any KeyStore)?
    private var isOver = false
    let catalog: Catalog
    /// The table that was asked for last: most bodies ask for one again and again.
    private var lastTable: StoredTable?
    /// The error of a change that was made in part: the transaction can only be dropped then.
    private(set) var failure: StoreError?
    /// The numbers of rows that this transaction knows; after ``finish()``, those it leaves.
    @exclusivity(unchecked)
    private(set) var rowCounts = RowCounts()
    /// Whether the transaction has certainly changed something.
    @exclusivity(unchecked)
    private(set) var hasChanges = false
    private let knownRows: KnownRows?

    /// A session that reads.
    init(reading keys: any KeySource, _ catalog: Catalog) {
        openKeys = keys
        openStore = nil
        self.catalog = catalog
        knownRows = nil
    }

    /// A session that reads and writes.
    init(
        writing store: any KeyStore, _ catalog: Catalog, _ rowCounts: consuming RowCounts, _ knownRows: KnownRows? = nil
    ) {
        openKeys = store
        openStore = store
        self.catalog = catalog
        self.rowCounts = rowCounts
        self.knownRows = knownRows
    }

    func end() { isOver = true }

    private var isWriting: Bool { openStore != nil }

    /// The keys, while the body runs and no change has failed: after that, nothing is asked of an engine.
    private func keys() throws(StoreError) -> any KeySource {
        if let failure { throw failure }
        guard !isOver else {
            throw StoreError(.closed, "a reader or writer was used after the body it was passed to")
        }
        return openKeys
    }

    /// The same, to be changed.
    func store() throws(StoreError) -> any KeyStore {
        _ = try keys()
        guard let openStore else { throw StoreError(.readOnly, "a reader does not write") }
        return openStore
    }

    func table(_ name: String) throws(StoreError) -> StoredTable {
        _ = try keys()
        if let lastTable, lastTable.isNamed(name) { return lastTable }
        let table = try catalog.table(name)
        lastTable = table
        return table
    }

    // MARK: Reading

    /// Calls `body` with the row of an id; false, without calling it, when there is none.
    func withRow(in name: String, id: RowID, _ body: (borrowing RowView) throws -> Void) throws -> Bool {
        let keys = try keys()
        let table = try table(name)
        return try table.withKey(of: id) { key in
            guard isWriting else {
                return try keys.find(key) { value in
                    var cursor = RowCursor(table)
                    try cursor.point(key: key, value: value)
                    try body(cursor.view)
                }
            }
            // The body may change the table, and with it the memory that the engine lends.
            guard let value = try keys.get(key, { Array($0) }) else { return false }
            if let knownRows { value.withUnsafeBytes { knownRows.note(key, $0) } }
            var cursor = RowCursor(table)
            try value.withUnsafeBytes { value in
                try cursor.point(key: key, value: value)
                try body(cursor.view)
            }
            return true
        }
    }

    /// What `body` makes of the row of an id; nil, without calling it, when there is none.
    ///
    /// Unsafe pointers: as a variable, the result would be an optional, the type of which is looked up in each call. There
    /// is room for one value, which is set at most once and taken out or destroyed. The room is asked for as bytes: what
    /// asks for values looks types up, too.
    func result<T>(in name: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<T>.size, alignment: MemoryLayout<T>.alignment)
        defer { bytes.deallocate() }
        let room = bytes.assumingMemoryBound(to: T.self)
        var isSet = false
        do {
            _ = try withRow(in: name, id: id) { row in
                room.initialize(to: try body(row))
                isSet = true
            }
        } catch {
            if isSet { room.deinitialize(count: 1) }
            throw error
        }
        return isSet ? room.move() : nil
    }

    func scan(_ query: Query, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        let (run, table) = try run(query)
        return try run.scan(rowCount: { try rowCount(of: table) }, body)
    }

    func count(_ query: Query) throws -> Int {
        let (run, table) = try run(query)
        return try run.count(rowCount: { try rowCount(of: table) })
    }

    func plan(for query: Query) throws -> QueryPlan { try run(query).0.plan }

    private func run(_ query: Query) throws -> (QueryRun, StoredTable) {
        let keys = try keys()
        let table = try table(query.table)
        return (try QueryRun(query, table: table, keys: keys, isWriting: isWriting), table)
    }

    private func rowCount(of table: StoredTable) throws -> Int {
        if let known = rowCounts[table.rows] { return known }
        return try keys().rowCount(of: table)
    }

    // MARK: Writing

    func upsert(_ rows: borrowing PackedRows, into name: String) throws {
        try changing { store in
            let table = try table(name)
            guard !rows.isEmpty else { return }
            var upsert = try Upsert(into: table, of: rows.shape, in: store, knownRows)
            // What was inserted before a failure counts for nothing, as the transaction is dropped.
            hasChanges = true
            try rows.forEachRow { try upsert.run($0) }
            try changeRowCount(of: table, by: upsert.insertedCount)
        }
    }

    func delete(ids: [RowID], from name: String) throws -> Int {
        try changing { store in
            let table = try table(name)
            var removal = Removal(from: table, in: store, knownRows)
            for id in ids { _ = try table.withKey(of: id) { try removal.remove(key: $0) } }
            try changeRowCount(of: table, by: -removal.count)
            return removal.count
        }
    }

    func delete(matching query: Query) throws -> Int {
        let store = try store()
        let table = try table(query.table)
        // A query that is refused has changed nothing.
        let run = try QueryRun(query, table: table, keys: store, isWriting: true)
        return try changing { store in
            var removal = Removal(from: table, in: store, knownRows)
            try run.matchingIDs().forEachKey { _ = try removal.remove(key: $0) }
            try changeRowCount(of: table, by: -removal.count)
            return removal.count
        }
    }

    /// Writes what is written once for the whole transaction.
    func finish() throws {
        let store = try store()
        try rowCounts.writeChanged { try store.writeRowCount($1, of: $0) }
    }

    private func changeRowCount(of table: StoredTable, by difference: Int) throws {
        guard difference != 0 else { return }
        hasChanges = true
        let (count, overflow) = try rowCount(of: table).addingReportingOverflow(difference)
        guard !overflow, count >= 0 else {
            throw StoreError(.corrupt, "the number of rows is damaged", table: table.name)
        }
        rowCounts.change(table.rows, to: count)
    }

    /// Runs a change; when it fails, so does the transaction, even if the body passes over the error.
    private func changing<T>(_ change: (any KeyStore) throws -> T) throws -> T {
        let store = try store()
        do {
            return try change(store)
        } catch {
            // A table that does not exist was not changed in part.
            let failure = (error as? StoreError) ?? StoreError(.io, "\(error)", cause: error)
            if failure.code != .noSuchTable { self.failure = failure }
            throw failure
        }
    }
}
