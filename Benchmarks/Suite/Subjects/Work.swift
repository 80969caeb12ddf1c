public import TidelineStore

/// A piece of work that every subject does alike, with all that it needs.
///
/// An *operation*, whose time a ``LatencySink`` takes, is what the case says.
public enum Work: Sendable {
    /// Closes the database and opens it again, so many times, reading the row each time, its values as borrowed bytes; the
    /// answer counts the reads. An operation is one opening with its read. The session is usable afterwards.
    case reopen(times: Int, id: RowID)
    /// Inserts or replaces whole rows from packed batches. An operation is a transaction, which is one batch.
    case upsert([RowBatch])
    /// The same from `Row` values, as an app makes them. A subject without such values does as in ``upsert(_:)``.
    case upsertRows([RowBatch])
    /// Reads rows by id; the answer counts those found. An operation is a read: where all are in one transaction, every
    /// 16th is timed.
    case get(ids: [RowID], access: Access, transaction: Transaction)
    /// Reads all rows in order of id. One operation.
    case scan(Access)
    /// Reads the first rows that match, in the filter's order; an operation is a query.
    case find([RowFilter], limit: Int)
    /// Counts the rows that match; an operation is a query.
    case count([RowFilter])
    /// Deletes the rows of these ids. An operation is a transaction, which is one list.
    case delete([[RowID]])
    /// Deletes the rows that match, each filter in a transaction of its own. An operation is a transaction.
    case deleteMatching([RowFilter])
    /// A mix of small operations, each in a transaction of its own, as a server of many users sees them; the answer counts
    /// the rows that each reads or writes, one that it reads and then writes once. An operation is a step.
    case mix([MixedStep])
    /// Applies pages of a table as a service answers them: JSON to stored rows, with the token of the last page kept in the
    /// same transaction. An operation is a transaction.
    case pull(JSONPages)
    /// What only a sync client does.
    case sync(SyncWork)
    /// Reads pages of JSON into rows, each page on its own, and every value of the rows, which are then let go. An operation
    /// is a page; the answer counts the rows and adds up their numbers, each once. Only for subjects without a database.
    case parse(JSONPages)

    /// How the values of a row are read.
    public enum Access: String, Sendable, Codable, CaseIterable {
        /// Every value where it lies, text as borrowed bytes.
        case view
        /// Every value by a column that was resolved once, text as `String`.
        case typed
        /// Every value by its name, of an owned `Row`.
        case row
    }

    /// What lies within one transaction.
    public enum Transaction: String, Sendable, Codable {
        /// Each read.
        case each
        /// All of them.
        case one
    }
}

/// Which rows a query finds, and in what order: those of a list, by rank.
public struct RowFilter: Sendable, Hashable {
    /// The value of the column `list`.
    public var list: String

    /// A filter.
    public init(list: String) { self.list = list }

    /// The query that it is, in the order of `rank`.
    public func query(_ table: BenchmarkTable) -> Query {
        Query(table.schema.name).filter(.column("list") == list).order(by: "rank")
    }
}

/// One operation of a mix; see Cooper et al., *Benchmarking Cloud Serving Systems with YCSB*, 2010.
public enum MixedStep: Sendable {
    /// Reads a row, all values as borrowed bytes.
    case read(RowID)
    /// Changes the text of a row that exists.
    case update(RowID, text: String)
    /// Inserts a new row: a batch of one.
    case insert(RowBatch)
    /// Reads so many rows in order of id from this one on, all values as borrowed bytes.
    case scan(from: RowID, count: Int)
    /// Reads a row and then changes its text, in one transaction.
    case readModifyWrite(RowID, text: String)
}

extension Work {
    /// Whether the rows may be others afterwards.
    var changesRows: Bool {
        switch self {
        case .reopen, .get, .scan, .find, .count, .parse: false
        case .upsert, .upsertRows, .delete, .deleteMatching, .mix, .pull, .sync: true
        }
    }
}

/// Pages of a table as a service answers them, in order.
public struct JSONPages: Sendable {
    /// The bodies of the answers, each a JSON array of rows, each row once. A row has its `id`, the table's columns and the
    /// service's own, of which the table keeps `updatedAt` and `version` but not `createdAt` and `deleted`.
    public var bodies: [[UInt8]]
    /// How many rows there are in all.
    public var rows: Int
    /// How many pages are applied in one transaction.
    public var pagesPerTransaction: Int

    /// Pages.
    public init(bodies: [[UInt8]], rows: Int, pagesPerTransaction: Int = 1) {
        self.bodies = bodies
        self.rows = rows
        self.pagesPerTransaction = pagesPerTransaction
    }
}
