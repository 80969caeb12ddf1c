internal import Logging
public import TidelineLive
public import TidelineStore

/// A local table whose rows are values of one type; see `TableRecord`.
///
/// ```swift
/// let todos = client.table(TodoItem.self)
/// let milk = try await todos.insert(TodoItem(text: "Buy milk"))
/// try await todos.update(milk.id) { $0.text = "Buy oat milk" }
/// for todo in try await todos.fetch(TodoItem.where { !$0.complete }.order { $0.due }) { print(todo.text) }
/// ```
///
/// Changes are queued and rows are pulled as by ``SyncTable``, which is the same table without the type. A table does
/// not depend on the type of the store.
public struct RecordTable<Record: TableRecord>: Sendable {
    let context: any TableContext

    /// The same table, with rows instead of records.
    public var untyped: SyncTable { SyncTable(name: Record.tableName, context: context) }

    // MARK: Local changes

    /// Inserts a record and queues the insert, in one transaction.
    ///
    /// - Returns: The record as stored.
    /// - Throws: ``SyncError``, as ``SyncTable/insert(_:)``; with code ``SyncError/Code/store`` for a value that the
    ///   column cannot store.
    @discardableResult
    public nonisolated(nonsending) func insert(_ record: Record) async throws -> Record {
        try await context.transaction { try $0.insert(record) }
    }

    /// Changes a stored record with a closure and queues the update, in one transaction.
    ///
    /// Only the columns that the closure changes are written and sent, so that changes of others to the other columns
    /// are not undone. A closure that changes nothing queues no operation.
    /// - Returns: The record as stored.
    /// - Throws: ``SyncError``: ``SyncError/Code/noSuchRow`` if the local table has no record with the identifier;
    ///   ``SyncError/Code/invalidArgument`` if the closure changes the identifier; otherwise as ``insert(_:)``.
    ///   Rethrows any error of the closure.
    @discardableResult
    public nonisolated(nonsending) func update(
        _ id: Record.ID, _ change: @escaping @Sendable (inout Record) throws -> Void
    ) async throws -> Record {
        try await context.transaction { try $0.update(id, change) }
    }

    /// Deletes the record with the given identifier and queues the delete; see ``SyncTable/delete(id:version:)``.
    public nonisolated(nonsending) func delete(_ id: Record.ID) async throws {
        try await context.transaction { try $0.delete(id) }
    }

    // MARK: Reading

    /// Returns the local records that match a query, by default all.
    ///
    /// A row that does not fit the type, such as one with a case of an enumeration that only a later version of the app
    /// has, is not among them and does not count for the query's skip and limit; the logger of ``SyncOptions`` gets a
    /// warning. To show such rows, declare a substitute (`@Column(unknown:)`, `RecordReader.read(_:unknown:)`).
    /// - Parameters:
    ///   - query: The records to return.
    ///   - unreadable: Called with the error of each row that does not fit the type: code `unreadableRecord`, with
    ///     table, column, and identifier.
    /// - Throws: ``SyncError``, with code ``SyncError/Code/invalidArgument`` for an invalid query.
    public nonisolated(nonsending) func fetch(
        _ query: RecordQuery<Record> = Record.all, unreadable: (StoreError) -> Void = { _ in }
    ) async throws -> [Record] {
        let (records, failures) = try await reading { try $0.readableRecords(matching: query) }
        warn(of: failures)
        failures.forEach(unreadable)
        return records
    }

    /// Returns the local record with the given identifier, or `nil` if there is none.
    ///
    /// - Throws: ``SyncError``: ``SyncError/Code/store``, with table, column, and identifier, for a row that does not
    ///   fit the type; ``SyncError/Code/invalidArgument`` for an identifier that no row can have.
    public nonisolated(nonsending) func fetch(_ id: Record.ID) async throws -> Record? {
        try await context.withReader { try $0.checkedRecord(id) }
    }

    /// Returns the number of local records that match a query, by default all. Its order, skip, and limit are ignored.
    public nonisolated(nonsending) func count(_ query: RecordQuery<Record> = Record.all) async throws -> Int {
        try await reading { try $0.count(query.query) }
    }

    /// Returns the records of this table that a column of other records references, with one query. Rows that do not
    /// fit the type are not among them; see ``fetch(_:unreadable:)``.
    ///
    /// ```swift
    /// let names = try await lists.fetch(related: items) { $0.list }  // [TodoList.ID: TodoList]
    /// ```
    /// - Parameters:
    ///   - records: The records with references to this table.
    ///   - reference: Returns the column that holds the references.
    /// - Returns: The records by the identifiers in the column. Identifiers without a local row are missing.
    public nonisolated(nonsending) func fetch<Other: TableRecord>(
        related records: [Other], by reference: (Other.Columns) -> Column<ID<Record>?>
    ) async throws -> [Record.ID: Record] {
        try await fetch(Set(references(of: records, in: reference(Other.columns).name)))
    }

    /// Returns the records of this table that a column of other records references; see
    /// ``fetch(related:by:)-(_,(Other.Columns)->Column<ID<Record>?>)``.
    public nonisolated(nonsending) func fetch<Other: TableRecord>(
        related records: [Other], by reference: (Other.Columns) -> Column<ID<Record>>
    ) async throws -> [Record.ID: Record] {
        try await fetch(Set(references(of: records, in: reference(Other.columns).name)))
    }

    /// Returns the records of this table that reference other records, in one read transaction. Rows that do not fit
    /// the type are not among them; see ``fetch(_:unreadable:)``.
    ///
    /// ```swift
    /// let items = try await todos.fetch(referencing: lists) { $0.list }  // [TodoList.ID: [TodoItem]]
    /// ```
    /// - Parameters:
    ///   - records: The referenced records.
    ///   - reference: Returns the column of this table that holds the references.
    /// - Returns: The records by the identifier that they reference, each list in the order of the identifiers.
    ///   References are compared as the identifiers of the referenced table: by default without regard to ASCII case.
    public nonisolated(nonsending) func fetch<Other: TableRecord>(
        referencing records: [Other], by reference: (Record.Columns) -> Column<ID<Other>?>
    ) async throws -> [Other.ID: [Record]] {
        try await fetch(referencing: records.map(\.id), in: reference(Record.columns).name)
    }

    /// Returns the records of this table that reference other records; see
    /// ``fetch(referencing:by:)-(_,(Record.Columns)->Column<ID<Other>?>)``.
    public nonisolated(nonsending) func fetch<Other: TableRecord>(
        referencing records: [Other], by reference: (Record.Columns) -> Column<ID<Other>>
    ) async throws -> [Other.ID: [Record]] {
        try await fetch(referencing: records.map(\.id), in: reference(Record.columns).name)
    }

    // MARK: Live queries

    /// Observes the local records that match a query, by default all.
    ///
    /// The sequence begins with the records as they are, and continues with one update for each transaction that
    /// changes them; see <doc:LiveQueries>.
    ///
    /// ```swift
    /// for try await update in todos.observe(TodoItem.where { !$0.complete }.order { $0.due }) {
    ///     show(update.rows, update.changes)
    /// }
    /// ```
    /// - Returns: A sequence that throws ``SyncError``, with code ``SyncError/Code/invalidArgument`` for an invalid
    ///   query, and ``SyncError/Code/store`` if the table lacks a column of the type. A row that does not fit the type
    ///   does not end it, and counts for the query's skip and limit; see `LiveUpdate.failures`.
    public func observe(_ query: RecordQuery<Record> = Record.all) -> LiveQuery<Record> {
        untyped.observe(query.query).map { try $0.record() }
    }

    /// Observes the number of local records that match a query, by default all.
    public func observeCount(_ query: RecordQuery<Record> = Record.all) -> LiveValue<Int> {
        untyped.observeCount(query.query)
    }

    /// Observes whether a local record matches a query, by default any.
    public func observeExistence(_ query: RecordQuery<Record> = Record.all) -> LiveValue<Bool> {
        untyped.observeExistence(query.query)
    }

    // MARK: Pull

    /// Fetches the server's matching rows into the local table; see ``SyncTable/pull(_:queryID:settings:)``.
    ///
    /// - Parameters:
    ///   - query: The rows to pull, by default all.
    ///   - id: A name for an incremental pull. Order, skip, and limit of the query are then ignored, because the pull
    ///     fetches all rows that match. If `nil`, every pull fetches the rows of the query.
    ///   - settings: See ``PullSettings``.
    @discardableResult
    public func pull(
        _ query: RecordQuery<Record> = Record.all, id: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        try await context.pull(query.forPull(id: id), queryID: id, settings: settings)
    }

    // MARK: Helpers

    /// Runs a query. An error of the query is one of the argument.
    private nonisolated(nonsending) func reading<T: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws -> T
    ) async throws -> T {
        do {
            return try await context.withReader(body)
        } catch {
            throw SyncError.wrapping(error).asArgumentError(table: Record.tableName)
        }
    }

    private nonisolated(nonsending) func fetch(_ ids: Set<Record.ID>) async throws -> [Record.ID: Record] {
        guard !ids.isEmpty else { return [:] }
        let (found, failures) = try await reading { reader in
            let keys = ReferenceKeys<Record>(ids, matching: try reader.schema(of: Record.tableName).idMatching)
            var result: [Record.ID: Record] = [:]
            var failures: [StoreError] = []
            for part in Array(ids).parts {
                let query = Record.all.where { _ in RowPredicate.column("id").isIn(part) }
                let readable = try reader.readableRecords(matching: query)
                for record in readable.records { for id in keys.ids(matching: record.id) { result[id] = record } }
                failures += readable.failures
            }
            return (result, failures)
        }
        warn(of: failures)
        return found
    }

    private nonisolated(nonsending) func fetch<Other: TableRecord>(
        referencing ids: [ID<Other>], in column: String
    ) async throws -> [Other.ID: [Record]] {
        guard !ids.isEmpty else { return [:] }
        let (found, failures) = try await reading { reader in
            let matching = try reader.schemaIfDefined(of: Other.tableName)?.idMatching
            let keys = ReferenceKeys<Other>(Set(ids), matching: matching)
            var result: [Other.ID: [Record]] = [:]
            var failures: [StoreError] = []
            var records = RecordReader()
            for predicate in try keys.predicates(for: column, of: Record.tableName, in: reader) {
                try reader.scan(TableQuery(Record.tableName).filter(predicate)) { row in
                    guard let reference = row[Column<Other.ID>(column)] else { return .next }
                    let found = keys.ids(matching: reference)
                    guard !found.isEmpty else { return .next }
                    do {
                        let record = try records.record(Record.self, of: row)
                        for id in found { result[id, default: []].append(record) }
                    } catch let error as StoreError where error.code == .unreadableRecord {
                        failures.append(error)
                    }
                    return .next
                }
            }
            return (result, failures)
        }
        warn(of: failures)
        return found
    }

    private func warn(of failures: [StoreError]) {
        guard let first = failures.first else { return }
        context.options.logger.warning("\(failures.count) rows were not fetched; the first: \(first)")
    }

    /// Returns the identifiers in a column of records.
    private func references<Other: TableRecord>(of records: [Other], in column: String) throws -> [Record.ID] {
        do {
            var rows = PackedRows(shape: Other.schema.makeShape())
            try rows.append(records)
            var ids: [Record.ID] = []
            rows.forEachRow { row in
                if let id = row[Column<Record.ID>(column)] { ids.append(id) }
            }
            return ids
        } catch {
            throw SyncError.wrapping(error)
        }
    }
}

/// The identifiers of referenced records, and the references and identifiers that match them.
private struct ReferenceKeys<Other: TableRecord> {
    private let matching: TableSchema.IDMatching
    private let ids: [Other.ID: [Other.ID]]

    /// - Parameter matching: The matching of the referenced table, or `nil` if it is not defined.
    init(_ ids: Set<Other.ID>, matching: TableSchema.IDMatching?) {
        let matching = matching ?? Other.schema.idMatching
        self.matching = matching
        self.ids = Dictionary(grouping: ids) { Self.key(of: $0, matching) }
    }

    private static func key(of id: Other.ID, _ matching: TableSchema.IDMatching) -> Other.ID {
        matching == .exact ? id : ID(id.text.asciiLowercased)
    }

    func ids(matching reference: Other.ID) -> [Other.ID] { ids[Self.key(of: reference, matching)] ?? [] }

    /// Returns predicates that find the rows with a matching reference, each once.
    func predicates(for column: String, of table: String, in reader: any StoreReader) throws -> [RowPredicate] {
        if matching == .exact { return Array(ids.keys).parts.map { .column(column).isIn($0) } }
        if let spellings = try spellings(in: column, of: table, in: reader) {
            return spellings.parts.map { .column(column).isIn($0) }
        }
        return Array(ids.keys).parts.map { .column(column).lowercased.isIn($0) }
    }

    /// The number of different references up to which they are sought one after another.
    private static var maximumSeeks: Int { 500 }

    /// Returns the matching references with the case in which they are stored, found in an index of the column. Returns
    /// `nil` if there is no index, or if it has so many references that reading all rows takes less time.
    private func spellings(in column: String, of table: String, in reader: any StoreReader) throws -> [Other.ID]? {
        let indexes = try reader.schema(of: table).indexes
        guard indexes.contains(where: { $0.columns.first == column }) else { return nil }
        var found: [Other.ID] = []
        var predicate = !RowPredicate.column(column).isNull
        for _ in 0..<Self.maximumSeeks {
            let query = TableQuery(table).filter(predicate).order(by: column).limit(1).select(column)
            guard let text = try reader.rows(matching: query).rows.first?[column]?.string else { return found }
            if !ids(matching: ID(text)).isEmpty { found.append(ID(text)) }
            predicate = .column(column) > .value(text)
        }
        return nil
    }
}

extension Array {
    /// The elements in parts small enough for one query of any store.
    fileprivate var parts: [ArraySlice<Element>] {
        stride(from: 0, to: count, by: 10_000).map { self[$0..<Swift.min($0 + 10_000, count)] }
    }
}

extension RecordQuery {
    /// The query of a pull. An incremental pull fetches all rows that match.
    func forPull(id: String?) -> TableQuery { id == nil ? query : TableQuery(query.table, predicate: query.predicate) }
}

extension StoreReader {
    /// Returns a record, or `nil` if there is none.
    ///
    /// - Throws: ``SyncError`` with code invalidArgument for an identifier that no row can have.
    func checkedRecord<Record: TableRecord>(_ id: ID<Record>) throws -> Record? {
        let schema = try schema(of: Record.tableName)
        try RowInput.checkID(id.text, of: schema, isKnown: RowInput.isStored(id.text, of: schema, in: self))
        return try record(id)
    }
}
