#if Commands
public import TidelineStore

/// A piece of work with all the data it needs, the same for every subject.
///
/// Each case defines its *operation*, the unit whose latency a ``LatencySink`` records.
public enum Work: Sendable {
    /// Closes and opens the database repeatedly and reads a row in place each time. The answer counts the reads. An
    /// operation is one opening with its read. The session remains open.
    case reopen(times: Int, id: RowID)
    /// Inserts or replaces whole rows from packed batches. An operation is a transaction with one batch.
    case upsert([RowBatch])
    /// Inserts or replaces whole rows from `Row` values. Subjects without such values treat it as ``upsert(_:)``.
    case upsertRows([RowBatch])
    /// Inserts or replaces whole rows from the records of an app. Subjects without records treat it as ``upsert(_:)``.
    /// An operation is a transaction with one batch.
    case upsertRecords([RowBatch])
    /// Reads rows by identifier. The answer counts the rows found. An operation is a read; in a single transaction only
    /// every 16th is recorded.
    case get(ids: [RowID], access: Access, transaction: Transaction)
    /// Reads all rows in order of identifier, as one operation.
    case scan(Access)
    /// Reads the first rows that match, in the filter's order. An operation is a query.
    case find([RowFilter], limit: Int)
    /// Counts the rows that match. An operation is a query.
    case count([RowFilter])
    /// Deletes rows by identifier. An operation is a transaction with one list.
    case delete([[RowID]])
    /// Deletes the rows that match. An operation is a transaction with one filter.
    case deleteMatching([RowFilter])
    /// A mix of small operations, each in its own transaction. The answer counts the rows read or written; a row that a
    /// step reads and writes counts once. An operation is a step.
    case mix([MixedStep])
    /// Parses the pages of a service and stores their rows and the token of the last page, in one transaction. An
    /// operation is a transaction.
    case pull(JSONPages)
    /// Inserts new rows as an app does in a synchronized table: each with an operation in the queue, each batch in one
    /// transaction. A bare engine puts the row and the operation. The answer counts the rows. An operation is a
    /// transaction.
    case insertLocally([RowBatch])
    /// Work that only a sync client performs.
    case sync(SyncWork)
    /// Parses each page of JSON separately and reads every value. An operation is a page. The answer counts the rows
    /// and sums their row numbers. Only for subjects without a database.
    case parse(JSONPages)

    /// The ways to read the values of a row.
    public enum Access: String, Sendable, Codable, CaseIterable {
        /// Every value in place, text as borrowed bytes.
        case view
        /// Every value through a resolved column, text as `String`.
        case typed
        /// Every value of a record, the app's type for the row, through its properties.
        case record
        /// Every value of an owned `Row`, by column name.
        case row
    }

    /// The extent of a transaction.
    public enum Transaction: String, Sendable, Codable {
        /// One transaction for each read.
        case each
        /// One transaction for all reads.
        case one
    }
}

/// A filter for the rows of a list, ordered by rank.
public struct RowFilter: Sendable, Hashable {
    /// The value of the column `list`.
    public var list: String

    /// Creates a filter.
    public init(list: String) { self.list = list }

    /// Returns the query of the filter, ordered by `rank`.
    public func query(_ table: BenchmarkTable) -> TableQuery {
        TableQuery(table.schema.name).filter(.column("list") == list).order(by: "rank")
    }
}

/// A step of a mix; see Cooper et al., *Benchmarking Cloud Serving Systems with YCSB*, 2010.
public enum MixedStep: Sendable {
    /// Reads a row in place.
    case read(RowID)
    /// Changes the text of an existing row.
    case update(RowID, text: String)
    /// Inserts the single row of a batch.
    case insert(RowBatch)
    /// Reads a number of rows in place, in order of identifier, from the given one on.
    case scan(from: RowID, count: Int)
    /// Reads a row and changes its text in one transaction.
    case readModifyWrite(RowID, text: String)
}

extension Work {
    /// Whether the work may change rows.
    var changesRows: Bool {
        switch self {
        case .reopen, .get, .scan, .find, .count, .parse: false
        case .upsert, .upsertRows, .upsertRecords, .delete, .deleteMatching, .mix, .pull, .insertLocally, .sync: true
        }
    }
}

/// Pages of a table in the format of a service, in order.
public struct JSONPages: Sendable {
    /// The response bodies, JSON arrays of rows. A row has the `id`, the columns of the table, and `createdAt` and
    /// `deleted`, which the table does not store.
    public var bodies: [[UInt8]]
    /// The total number of rows.
    public var rows: Int
    /// The number of pages to store in one transaction.
    public var pagesPerTransaction: Int

    /// Creates pages.
    public init(bodies: [[UInt8]], rows: Int, pagesPerTransaction: Int = 1) {
        self.bodies = bodies
        self.rows = rows
        self.pagesPerTransaction = pagesPerTransaction
    }
}
#endif
