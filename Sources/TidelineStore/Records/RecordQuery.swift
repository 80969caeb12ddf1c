/// A request for records of one type: the rows to match, their order, and the range.
///
/// One value serves to fetch, count, and pull:
///
/// ```swift
/// let open = TodoItem.where { !$0.complete && $0.text.hasPrefix("B") }.order { $0.due }.limit(50)
/// ```
///
/// The closures receive the record's ``TableRecord/Columns``. A comparison of a column with a value of another type
/// does not compile.
public struct RecordQuery<Record: TableRecord>: Sendable {
    /// The query of the record's table, for methods that take rows without a type.
    public private(set) var query = TableQuery(Record.tableName)

    /// Creates a query for all records.
    public init() {}

    /// Returns this query restricted to records that also match a condition.
    public func `where`(_ condition: (Record.Columns) -> some RowCondition) -> Self {
        with { $0 = $0.filter(condition(Record.columns).predicate) }
    }

    /// Returns this query ordered by a column, after the existing terms. Nulls are first, and last if descending.
    public func order(descending: Bool = false, by column: (Record.Columns) -> Column<some ColumnValue>) -> Self {
        with { $0 = $0.order(by: column(Record.columns), descending: descending) }
    }

    /// Returns this query without the first `count` records.
    public func skip(_ count: Int) -> Self { with { $0.skip = count } }

    /// Returns this query limited to `count` records.
    public func limit(_ count: Int) -> Self { with { $0.limit = count } }

    private func with(_ change: (inout TableQuery) -> Void) -> Self {
        var copy = self
        change(&copy.query)
        return copy
    }
}

extension TableRecord {
    /// A query for all records.
    public static var all: RecordQuery<Self> { RecordQuery() }

    /// Returns a query for the records that match a condition: `TodoItem.where { $0.due < .now }`.
    public static func `where`(_ condition: (Columns) -> some RowCondition) -> RecordQuery<Self> {
        all.where(condition)
    }

    /// Returns a query for all records, ordered by a column: `TodoItem.order { $0.due }`.
    public static func order(
        descending: Bool = false, by column: (Columns) -> Column<some ColumnValue>
    ) -> RecordQuery<Self> {
        all.order(descending: descending, by: column)
    }
}

// MARK: - Reading and writing records

// Always inlined: the compiler otherwise makes no version for a type of record where the type of the store is not
// known.

extension StoreReader {
    /// Returns the records that match a query.
    ///
    /// - Throws: The errors of ``scan(_:_:)`` and of ``RecordReader/read(_:)``.
    @inlinable
    @inline(__always)
    public func records<Record: TableRecord>(matching query: RecordQuery<Record>) throws -> [Record] {
        var records: [Record] = []
        try forEachRecord(matching: query) {
            records.append($0)
            return .next
        }
        return records
    }

    /// Returns the records that match a query, and the errors of the rows among them that do not fit the type. Such
    /// rows do not count for the query's skip and limit.
    @inlinable
    @inline(__always)
    package func readableRecords<Record: TableRecord>(
        matching query: RecordQuery<Record>
    ) throws -> (records: [Record], failures: [StoreError]) {
        var rows = query.query
        let (skip, limit) = (rows.skip, rows.limit ?? .max)
        if skip > 0, limit >= 0 {
            rows.skip = 0
            rows.limit = limit < .max - skip ? limit + skip : nil
        }
        while true {
            var reader = RecordReader()
            var (records, failures): ([Record], [StoreError]) = ([], [])
            var (skipped, isComplete) = (0, true)
            try scan(rows) { row in
                do {
                    let record = try reader.record(Record.self, of: row)
                    if skipped < skip { skipped += 1 } else { records.append(record) }
                } catch let error as StoreError where error.code == .unreadableRecord {
                    isComplete = rows.limit == nil
                    if skipped >= skip { failures.append(error) }
                }
                return records.count < limit ? .next : .stop
            }
            if isComplete || records.count == limit { return (records, failures) }
            // Only now, because a store that knows the limit has less to sort.
            rows.limit = nil
        }
    }

    /// Calls `body` with each record that matches a query, until it returns ``ScanStep/stop``.
    ///
    /// - Throws: The errors of ``scan(_:_:)`` and of ``RecordReader/read(_:)``, and any error of `body`.
    @inlinable
    @inline(__always)
    public func forEachRecord<Record: TableRecord>(
        matching query: RecordQuery<Record>, _ body: (Record) throws -> ScanStep
    ) throws {
        var reader = RecordReader()
        try scan(query.query) { row in try body(reader.record(Record.self, of: row)) }
    }

    /// Returns the record with the given identifier, or `nil` if there is none.
    ///
    /// - Throws: The errors of ``withRow(in:id:_:)`` and of ``RecordReader/read(_:)``.
    @inlinable
    @inline(__always)
    public func record<Record: TableRecord>(_ id: ID<Record>) throws -> Record? {
        try withRow(in: Record.tableName, id: id.rowID) { try $0.record() }
    }
}

extension RowView {
    /// Returns the row as a record.
    ///
    /// - Throws: The errors of ``RecordReader/read(_:)``.
    @inlinable
    @inline(__always)
    public func record<Record: TableRecord>(_ type: Record.Type = Record.self) throws -> Record {
        var reader = RecordReader()
        return try reader.record(type, of: self)
    }
}

extension StoreWriter {
    /// Inserts records, or replaces the columns that they write in the existing rows with the same identifiers; see
    /// ``upsert(_:into:)-(PackedRows,_)``.
    @inlinable
    @inline(__always)
    public func upsert<Record: TableRecord>(_ records: some Sequence<Record>) throws {
        var rows = PackedRows(shape: try shape(of: Record.tableName))
        try rows.append(records)
        guard !rows.isEmpty else { return }
        try upsert(rows, into: Record.tableName)
    }
}
