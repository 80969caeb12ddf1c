internal import TidelineStore

/// The access of one read or write body to the store. It ends with the body.
///
/// Properties that every write changes skip the exclusivity check, because nothing that is called during a change
/// accesses them.
final class Session {
    /// The keys to read and, in a write, to change. They are accessible until the session ends.
    @exclusivity(unchecked)
    private var openKeys: any KeySource
    private let openStore: (any KeyStore)?
    private var isOver = false
    let catalog: Catalog
    private let definitions: LockedValue<Definitions>?
    /// The number of the commit before this transaction, if others can commit and the number is known.
    private let precedingCommit: UInt64?
    /// The table that was requested last. Most bodies request the same table repeatedly.
    private var lastTable: StoredTable?
    /// The objects that maintain the indexes of the tables that this transaction changes, which reuse their memory.
    private(set) var indexEntries: [IndexEntries] = []
    /// The error of a partially applied change. The transaction can then only be rolled back.
    private(set) var failure: StoreError?
    /// The row counts that this transaction knows; after ``finish()``, those that it leaves.
    @exclusivity(unchecked)
    private(set) var rowCounts = RowCounts()
    /// Whether the transaction has certainly changed something.
    @exclusivity(unchecked)
    private(set) var hasChanges = false

    init(reading keys: any KeySource, _ catalog: Catalog) {
        unsafe openKeys = keys
        openStore = nil
        self.catalog = catalog
        (definitions, precedingCommit) = (nil, nil)
    }

    init(
        writing store: any KeyStore, _ catalog: Catalog, _ rowCounts: consuming RowCounts,
        _ definitions: LockedValue<Definitions>, precedingCommit: UInt64?, _ indexEntries: [IndexEntries]
    ) {
        unsafe openKeys = store
        openStore = store
        self.catalog = catalog
        self.definitions = definitions
        self.precedingCommit = precedingCommit
        self.indexEntries = indexEntries
        unsafe self.rowCounts = rowCounts
    }

    func end() { isOver = true }

    private var isWriting: Bool { openStore != nil }

    /// Returns the keys if the body is running and no change has failed. After a failure, the engine is not accessed
    /// again.
    private func keys() throws(StoreError) -> any KeySource {
        if let failure { throw failure }
        guard !isOver else { throw .bodyReturned }
        return unsafe openKeys
    }

    func store() throws(StoreError) -> any KeyStore {
        _ = try keys()
        guard let openStore else {
            throw StoreError(.readOnly, "a reader cannot write; use the writer of a write body")
        }
        return openStore
    }

    /// Returns the keys for a change that concerns more than rows.
    func changeDefinitions() throws(StoreError) -> any KeyStore {
        let store = try store()
        unsafe hasChanges = true
        return store
    }

    /// Limits the time of the following queries.
    func limitTime(_ limit: QueryTimeLimit) throws(StoreError) {
        unsafe openKeys = TimedKeys(try keys(), limit)
    }

    /// The number of ``ExternalCommitCounter`` as of this transaction, or `nil` if others cannot commit.
    func externalCommitNumber() throws(StoreError) -> UInt64? {
        _ = try keys()
        guard let definitions, let precedingCommit else { return nil }
        return definitions.withLock { definitions in
            definitions.externalCommits.update(to: precedingCommit)
            return definitions.externalCommits.number
        }
    }

    func table(_ name: String) throws(StoreError) -> StoredTable {
        _ = try keys()
        if let lastTable, lastTable.name == name { return lastTable }
        let table = try catalog.table(name)
        lastTable = table
        return table
    }

    // MARK: Reading

    /// Calls `body` with the row with the given identifier, or returns `false` if there is none.
    func withRow(in name: String, id: RowID, _ body: (borrowing RowView) throws -> Void) throws -> Bool {
        let keys = try keys()
        let table = try table(name)
        return try unsafe table.withKey(of: id) { key in
            guard let openStore else {
                return try unsafe keys.find(key) { value in
                    var cursor = RowCursor(table)
                    try unsafe cursor.point(key: key, value: value)
                    try body(cursor.view)
                }
            }
            // The body may change the table and thereby the memory of the engine's value.
            guard let value = try unsafe keys.get(key, { unsafe Array($0) }) else { return false }
            if openStore.remembersKeys { unsafe value.withUnsafeBytes { unsafe openStore.rememberRow(key, $0) } }
            var cursor = RowCursor(table)
            try unsafe value.withUnsafeBytes { value in
                try unsafe cursor.point(key: key, value: value)
                try body(cursor.view)
            }
            return true
        }
    }

    /// Returns the result of `body` for the row with the given identifier, or `nil` if there is none.
    ///
    /// Unsafe pointers: an optional variable would require a lookup of its generic type in each call. The allocation
    /// holds one value, which is initialized at most once and then moved out or deinitialized. It is allocated as raw
    /// bytes, because a typed allocation also looks up types.
    func result<T>(in name: String, id: RowID, _ body: (borrowing RowView) throws -> T) throws -> T? {
        let bytes = UnsafeMutableRawPointer.allocate(
            byteCount: MemoryLayout<T>.size, alignment: MemoryLayout<T>.alignment)
        defer { unsafe bytes.deallocate() }
        let room = unsafe bytes.assumingMemoryBound(to: T.self)
        var isSet = false
        do {
            _ = try withRow(in: name, id: id) { row in
                unsafe room.initialize(to: try body(row))
                isSet = true
            }
        } catch {
            if isSet { unsafe room.deinitialize(count: 1) }
            throw error
        }
        return unsafe isSet ? room.move() : nil
    }

    func scan(_ query: TableQuery, _ body: (borrowing RowView) throws -> ScanStep) throws -> Int? {
        let (keys, table) = (try keys(), try table(query.table))
        let lookup = AccessPath(lookingUp: query, in: table)
        // Most lookups by the sync core find nothing, which needs no run and no memory for rows.
        if let lookup, try lookup.isEmpty(in: keys) { return nil }
        let run = try QueryRun(query, table: table, keys: keys, isWriting: isWriting, lookup: lookup)
        return try run.scan(rowCount: { try rowCount(of: table) }, body)
    }

    func count(_ query: TableQuery) throws -> Int {
        let run = try run(query)
        return try run.count(rowCount: { try rowCount(of: run.table) })
    }

    func plan(for query: TableQuery) throws -> QueryPlan { try run(query).plan }

    private func run(_ query: TableQuery) throws -> QueryRun {
        try QueryRun(query, table: table(query.table), keys: keys(), isWriting: isWriting, lookup: nil)
    }

    private func rowCount(of table: StoredTable) throws -> Int {
        if let known = unsafe rowCounts[table.rows] { return known }
        return try keys().rowCount(of: table)
    }

    // MARK: Writing

    func upsert(_ rows: borrowing PackedRows, into name: String) throws {
        try changing { store in
            let table = try table(name)
            guard !rows.isEmpty else { return }
            var upsert = try Upsert(into: table, of: rows.shape, entries(of: table), in: store)
            // Rows inserted before a failure do not count, because the transaction is rolled back.
            unsafe hasChanges = true
            try rows.forEachRow { try upsert.run($0) }
            try changeRowCount(of: table, by: upsert.insertedCount)
        }
    }

    func delete(ids: [RowID], from name: String) throws -> Int {
        try changing { store in
            let table = try table(name)
            let entries = entries(of: table)
            var count = 0
            for id in ids {
                if try unsafe table.withKey(of: id, { try unsafe remove($0, entries, from: store) }) { count += 1 }
            }
            try changeRowCount(of: table, by: -count)
            return count
        }
    }

    func delete(matching query: TableQuery) throws -> Int {
        // A query that is rejected has changed nothing.
        let run = try run(query)
        return try changing { store in
            let entries = entries(of: run.table)
            var count = 0
            let keys = try run.matchingIDs()
            for index in 0..<keys.count {
                if try unsafe keys.withKey(at: index, { try unsafe remove($0, entries, from: store) }) { count += 1 }
            }
            try changeRowCount(of: run.table, by: -count)
            return count
        }
    }

    /// Removes the row with the given key and its index entries. Returns whether the row existed.
    private func remove(
        _ key: UnsafeRawBufferPointer, _ entries: IndexEntries?, from store: any KeyStore
    ) throws -> Bool {
        if let entries {
            guard try unsafe store.find(key, { try unsafe entries.noteOld(key: key, value: $0) }) else { return false }
            try unsafe entries.remove(from: store, ofRowAt: key)
        }
        return try unsafe store.delete(key)
    }

    /// Returns the object that maintains the index entries of a table's rows, or `nil` if the table has no indexes.
    private func entries(of table: StoredTable) -> IndexEntries? {
        if table.indexes.isEmpty { return nil }
        for known in indexEntries where known.table === table { return known }
        let entries = IndexEntries(of: table)
        // An earlier definition of the table may have left others.
        indexEntries.removeAll { $0.table.name == table.name }
        indexEntries.append(entries)
        return entries
    }

    /// Writes the changed row counts, once for the whole transaction.
    func finish() throws {
        let store = try store()
        try unsafe rowCounts.writeChanged { try store.writeRowCount($1, of: $0) }
    }

    private func changeRowCount(of table: StoredTable, by difference: Int) throws {
        guard difference != 0 else { return }
        unsafe hasChanges = true
        let (count, overflow) = try rowCount(of: table).addingReportingOverflow(difference)
        guard !overflow, count >= 0 else {
            throw StoreError(.corrupt, "the stored row count is damaged", table: table.name)
        }
        unsafe rowCounts.change(table.rows, to: count)
    }

    /// Runs a change. If it fails, the transaction fails too, even if the body ignores the error.
    private func changing<T>(_ change: (any KeyStore) throws -> T) throws -> T {
        let store = try store()
        do {
            return try change(store)
        } catch {
            // A missing table cannot have been changed partially.
            let failure = (error as? StoreError) ?? StoreError(.io, "\(error)", cause: error)
            if failure.code != .noSuchTable { self.failure = failure }
            throw failure
        }
    }
}
